
:
xPlaceholder*
dtype0*
shape:
$
yPartitionedCallx*
fR
f0¿
|

f0
a
o0$
cPartitionedCalla*
fR
f1-
dPartitionedCall
c:output:0*
fR
f1"
o0
d:output:0
|

f1
a
o0$
cPartitionedCalla*
fR
f2-
dPartitionedCall
c:output:0*
fR
f2"
o0
d:output:0
|

f2
a
o0$
cPartitionedCalla*
fR
f3-
dPartitionedCall
c:output:0*
fR
f3"
o0
d:output:0
|

f3
a
o0$
cPartitionedCalla*
fR
f4-
dPartitionedCall
c:output:0*
fR
f4"
o0
d:output:0
|

f4
a
o0$
cPartitionedCalla*
fR
f5-
dPartitionedCall
c:output:0*
fR
f5"
o0
d:output:0
|

f5
a
o0$
cPartitionedCalla*
fR
f6-
dPartitionedCall
c:output:0*
fR
f6"
o0
d:output:0
|

f6
a
o0$
cPartitionedCalla*
fR
f7-
dPartitionedCall
c:output:0*
fR
f7"
o0
d:output:0
|

f7
a
o0$
cPartitionedCalla*
fR
f8-
dPartitionedCall
c:output:0*
fR
f8"
o0
d:output:0
|

f8
a
o0$
cPartitionedCalla*
fR
f9-
dPartitionedCall
c:output:0*
fR
f9"
o0
d:output:0
~

f9
a
o0%
cPartitionedCalla*
fR
f10.
dPartitionedCall
c:output:0*
fR
f10"
o0
d:output:0


f10
a
o0%
cPartitionedCalla*
fR
f11.
dPartitionedCall
c:output:0*
fR
f11"
o0
d:output:0


f11
a
o0%
cPartitionedCalla*
fR
f12.
dPartitionedCall
c:output:0*
fR
f12"
o0
d:output:0


f12
a
o0%
cPartitionedCalla*
fR
f13.
dPartitionedCall
c:output:0*
fR
f13"
o0
d:output:0


f13
a
o0%
cPartitionedCalla*
fR
f14.
dPartitionedCall
c:output:0*
fR
f14"
o0
d:output:0


f14
a
o0%
cPartitionedCalla*
fR
f15.
dPartitionedCall
c:output:0*
fR
f15"
o0
d:output:0


f15
a
o0%
cPartitionedCalla*
fR
f16.
dPartitionedCall
c:output:0*
fR
f16"
o0
d:output:0


f16
a
o0%
cPartitionedCalla*
fR
f17.
dPartitionedCall
c:output:0*
fR
f17"
o0
d:output:0


f17
a
o0%
cPartitionedCalla*
fR
f18.
dPartitionedCall
c:output:0*
fR
f18"
o0
d:output:0


f18
a
o0%
cPartitionedCalla*
fR
f19.
dPartitionedCall
c:output:0*
fR
f19"
o0
d:output:0


f19
a
o0%
cPartitionedCalla*
fR
f20.
dPartitionedCall
c:output:0*
fR
f20"
o0
d:output:0


f20
a
o0%
cPartitionedCalla*
fR
f21.
dPartitionedCall
c:output:0*
fR
f21"
o0
d:output:0


f21
a
o0%
cPartitionedCalla*
fR
f22.
dPartitionedCall
c:output:0*
fR
f22"
o0
d:output:0


f22
a
o0%
cPartitionedCalla*
fR
f23.
dPartitionedCall
c:output:0*
fR
f23"
o0
d:output:0


f23
a
o0%
cPartitionedCalla*
fR
f24.
dPartitionedCall
c:output:0*
fR
f24"
o0
d:output:0


f24
a
o0%
cPartitionedCalla*
fR
f25.
dPartitionedCall
c:output:0*
fR
f25"
o0
d:output:0


f25
a
o0%
cPartitionedCalla*
fR
f26.
dPartitionedCall
c:output:0*
fR
f26"
o0
d:output:0


f26
a
o0%
cPartitionedCalla*
fR
f27.
dPartitionedCall
c:output:0*
fR
f27"
o0
d:output:0


f27
a
o0%
cPartitionedCalla*
fR
f28.
dPartitionedCall
c:output:0*
fR
f28"
o0
d:output:0


f28
a
o0%
cPartitionedCalla*
fR
f29.
dPartitionedCall
c:output:0*
fR
f29"
o0
d:output:0


f29
a
o0%
cPartitionedCalla*
fR
f30.
dPartitionedCall
c:output:0*
fR
f30"
o0
d:output:0
;

f30
a
o0
rRelua"
o0r:activations:0