// managed_objects.cpp - holds objects behind the address of their memory manager, as Xerces-C does.
// Similar blocks are none of these.
#include <csignal>
#include <cstdlib>

#include "tests/clear_stack.h"
#include "tests/reach/two_bases.h"

enum { KEPT = 50, LOST = 3, OTHERS = 5, HEADER = 8 };

struct Manager {
	virtual ~Manager()
	{
	}
	virtual void *allocate(size_t size)
	{
		return calloc(1, size);
	}
};

struct Object {
	static void *operator new(size_t size, Manager *manager)
	{
		void *const block = manager->allocate(HEADER + size);

		*static_cast<void **>(block) = manager;
		return static_cast<char *>(block) + HEADER;
	}
	static void operator delete(void *, Manager *)
	{
	}
};

struct PlainObject : Object {
	long value[6];
};

// Begins with the address of an object, as many in Xerces-C do.
struct Element : Object {
	Manager *object;
	long number;
};

// Also has the address of its manager.
struct Table : Object {
	Manager *object, *manager;
};

struct Managed : Object, First, Second {
	static void operator delete(void *)
	{
	}
	long both = 3;
};

static Manager manager, another;
static PlainObject *volatile plain[KEPT];
static Element *volatile elements[KEPT];
static Table *volatile tables[KEPT];
static Second *volatile part[KEPT];
static void *volatile others[OTHERS];
static long none[4];

// Makes an array of addresses of objects.  Returns the address of its second element.
static void *make_array()
{
	Manager **const array = static_cast<Manager **>(calloc(2, HEADER));

	array[0] = &manager;
	array[HEADER / sizeof(*array)] = &another;
	return reinterpret_cast<char *>(array) + HEADER;
}

// Puts what is no manager in front of OBJECT.
static PlainObject *put_in_front(PlainObject *object, void *other)
{
	reinterpret_cast<void **>(reinterpret_cast<char *>(object) - HEADER)[0] = other;
	return object;
}

static NOINLINE void make_all()
{
	for (int i = 0; i < KEPT; i++) {
		plain[i] = new (&manager) PlainObject;
		elements[i] = new (&manager) Element;
		elements[i]->object = &another;
		elements[i]->number = i + 1;
		tables[i] = new (&manager) Table;
		tables[i]->object = i % 2 == 0 ? &manager : &another;
		tables[i]->manager = &manager;
		part[i] = new (&manager) Managed;
	}
	others[0] = put_in_front(new (&manager) PlainObject, none);
	others[1] = put_in_front(new (&manager) PlainObject, reinterpret_cast<void *>(5));
	others[2] = &(new (&manager) PlainObject)->value[1];
	others[3] = &(new (&manager) Managed)->second;
	others[4] = make_array();
	for (int i = 0; i < LOST; i++) {
		(new (&manager) PlainObject)->value[0] = 1;
		(new (&manager) Managed)->both = 1;
	}
}

int main()
{
	make_all();
	clear_stack();
	return raise(SIGUSR1);
}
