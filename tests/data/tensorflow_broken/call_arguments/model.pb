
:
xPlaceholder*
dtype0*
shape:
#
yPartitionedCallx*

fR
f&
$

f
a
b
o0"
o0a