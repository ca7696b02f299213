
:
xPlaceholder*
dtype0*
shape:
8
wConst*
dtype0*
valueB
7
yConv2Dxw*
stridesSAME*
paddingSAME