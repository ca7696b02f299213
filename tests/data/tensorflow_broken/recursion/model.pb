
:
xPlaceholder*
dtype0*
shape:
#
yPartitionedCallx*

fR
fM
K

f
a
o0#
cPartitionedCalla*

fR
f"
o0
c:output:0