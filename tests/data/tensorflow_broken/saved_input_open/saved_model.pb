x
"serveJ
:
xPlaceholder*
dtype0*
shape:

yRelux*!
serving_default
y
y:0