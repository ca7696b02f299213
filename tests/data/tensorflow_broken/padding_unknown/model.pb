
:
xPlaceholder*
dtype0*
shape:
8
wConst*
dtype0*
valueB
:
yConv2Dxw*
strides
*
paddingROUND