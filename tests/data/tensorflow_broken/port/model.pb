
:
xPlaceholder*
dtype0*
shape:

yRelux:one