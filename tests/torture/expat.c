/* expat.c - a document with a DTD, entities and namespaces is parsed in pieces. */
#include <expat.h>
#include <string.h>

static const char text[] =
        "<?xml version='1.0'?>\n"
        "<!DOCTYPE shop [<!ENTITY co 'Tea and Co'><!ATTLIST item kind CDATA 'drink'>]>\n"
        "<shop xmlns:p='urn:price'><item id='1' p:price='5'>&co;</item>"
        "<item id='2' p:long-attribute-name='a value that is rather long'>text</item></shop>";

static void start(void *data, const XML_Char *name, const XML_Char **attributes)
{
	(void)name;
	for (; *attributes; attributes += 2)
		++*(int *)data;
}

static void characters(void *data, const XML_Char *string, int length)
{
	(void)data, (void)string, (void)length;
}

int main(void)
{
	XML_Parser parser = XML_ParserCreateNS("UTF-8", ' ');
	int attributes = 0, failed = 0;

	if (!parser)
		return 1;
	XML_SetUserData(parser, &attributes);
	XML_SetStartElementHandler(parser, start);
	XML_SetCharacterDataHandler(parser, characters);
	for (size_t at = 0; !failed && at < sizeof text - 1; at += 50) {
		const size_t rest = sizeof text - 1 - at;

		failed = XML_Parse(parser, text + at, rest < 50 ? (int)rest : 50, rest <= 50) ==
		         XML_STATUS_ERROR;
	}
	XML_ParserFree(parser);
	return failed || attributes != 6;
}
