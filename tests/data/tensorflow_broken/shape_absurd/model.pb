
:
xPlaceholder*
dtype0*
shape:
:
sConst*
dtype0*!
valueB€€€€€ €€€€€ 

yAddxs