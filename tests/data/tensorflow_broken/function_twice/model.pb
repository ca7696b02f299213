
:
xPlaceholder*
dtype0*
shape:
#
yPartitionedCallx*

fR
f>


f
a
o0"
o0a


f
a
o0"
o0a