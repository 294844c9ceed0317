// two_bases.h - the bases of an object with multiple inheritance.
#ifndef TWO_BASES_H
#define TWO_BASES_H

struct First {
	virtual ~First()
	{
	}
	long first = 1;
};

struct Second {
	virtual ~Second()
	{
	}
	long second = 2;
};

#endif
