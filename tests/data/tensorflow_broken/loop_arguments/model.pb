
:
xPlaceholder*
dtype0*
shape:
+
yWhilex*
condR
c*
bodyR
bV


c
a
o0"
o0a
5
!
b
a
b
o0
o1"
o0a"
o1b