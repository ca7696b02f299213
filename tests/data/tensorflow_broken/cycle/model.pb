
:
xPlaceholder*
dtype0*
shape:

aAddbx

bRelua

yRelua