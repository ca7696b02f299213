
:
xPlaceholder*
dtype0*
shape:
#
yPartitionedCallx*

fR
g