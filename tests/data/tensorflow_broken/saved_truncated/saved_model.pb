†
"serveJ
:
xPlaceholder*
dtype0*
shape:

yRelux*/
serving_default

x
x:0
y
y