
:
xPlaceholder*
dtype0*
shape:
L
sConst*
dtype0*3
value*B($

yAddxs