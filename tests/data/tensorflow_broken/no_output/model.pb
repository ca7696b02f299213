
	
pNoOp
	
qNoOp