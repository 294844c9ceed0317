/* xml.c - a document is parsed, queried, changed and written. */
#include <libxml/parser.h>
#include <libxml/xpath.h>
#include <string.h>
#include <time.h>

/* Takes the place of the C library's.  libxml2 seeds its hash tables with the time, and the seed
 * decides which call sites a run reaches. */
time_t time(time_t *now)
{
	if (now)
		*now = 1;
	return 1;
}

static const char text[] =
        "<?xml version='1.0' encoding='UTF-8'?>\n"
        "<!DOCTYPE shop [<!ELEMENT shop (item*)><!ENTITY co 'A &amp; B'>]>\n"
        "<shop xmlns:p='urn:price'><!-- goods --><item id='1' p:price='5'>Tea &co;</item>"
        "<item id='2' p:price='7'><![CDATA[<Coffee>]]></item><?pi data?>"
        "<item id='3'>M\xc3\xbcsli<note>long note</note></item></shop>";

static int query(xmlDocPtr document)
{
	xmlXPathContextPtr context = xmlXPathNewContext(document);
	xmlXPathObjectPtr found = NULL;
	int failed = 1;

	if (context)
		found = xmlXPathEvalExpression(
		        (const xmlChar *)"//item[@id > 1 and contains(., 'o')]/@id", context);
	if (found) {
		failed = found->nodesetval == NULL;
		xmlXPathFreeObject(found);
	}
	xmlXPathFreeContext(context);
	return failed;
}

static int change(xmlDocPtr document)
{
	xmlNodePtr root = xmlDocGetRootElement(document);
	xmlChar *written = NULL;
	int size = 0;

	if (!root || !xmlNewChild(root, NULL, (const xmlChar *)"item", (const xmlChar *)"Milk"))
		return 1;
	xmlDocDumpFormatMemory(document, &written, &size, 1);
	xmlFree(written);
	return written == NULL;
}

int main(void)
{
	xmlDocPtr document;
	int failed = 1;

	xmlInitParser();
	document = xmlReadMemory(text, sizeof text - 1, "shop.xml", NULL,
	                         XML_PARSE_NOENT | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
	if (document)
		failed = query(document) || change(document);
	xmlFreeDoc(document);
	xmlCleanupParser();
	return failed;
}
