Õ
"serveê
:
xPlaceholder*
dtype0*
shape:

vVarHandleOp*
dtype0
#
rReadVariableOpv*
dtype0

yAddxr*/
serving_default

x
x:0
y
y:0