/* xml_query.c - parses documents into trees and asks XPath questions of them: many call sites in a
 * prebuilt archive. */
#include "workload.h"

#include <libxml/parser.h>
#include <libxml/xpath.h>

enum { ITEMS = 4000 };

static const char *const questions[] = {
        "count(/catalog/item[@class='c7']/name)",
        "sum(//price)",
        "string(/catalog/item[last()]/name)",
        "count(//tag[text()='t5' or starts-with(., 't1')])",
        "count(/catalog/item[price > 500 and tags/tag[2]])",
        "concat(name(/*), ' ', string-length(normalize-space(/catalog/item[17])))",
};

/* Returns the text of a catalog. The caller frees it. */
static char *catalog(size_t *size)
{
	unsigned random = 1;
	char *text = NULL;
	FILE *stream = open_memstream(&text, size);

	workload_check(stream, "open_memstream");
	fputs("<?xml version='1.0'?>\n<!DOCTYPE catalog [<!ENTITY maker 'Smith &amp; "
	      "Sons'>]>\n<catalog>\n",
	      stream);
	for (unsigned i = 0; i < ITEMS; i++) {
		fprintf(stream, "<item id='i%u' class='c%u'><name>Thing %u of &maker;</name>", i,
		        workload_random(&random) % 50, i);
		fprintf(stream, "<price currency='EUR'>%u.50</price><tags>",
		        workload_random(&random) % 1000);
		for (unsigned tag = workload_random(&random) % 6; tag > 0; tag--)
			fprintf(stream, "<tag>t%u</tag>", workload_random(&random) % 20);
		fprintf(stream, "</tags><!-- %u --><?stock %u?></item>\n", i, i % 7);
	}
	fputs("</catalog>\n", stream);
	workload_check(fclose(stream) == 0, "fclose");
	return text;
}

/* Returns a sum over the answers. */
static double ask(xmlDoc *document)
{
	xmlXPathContext *context = xmlXPathNewContext(document);
	double sum = 0;

	workload_check(context, "xmlXPathNewContext");
	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
		xmlXPathObject *answer =
		        xmlXPathEvalExpression((const xmlChar *)questions[i], context);

		workload_check(answer, questions[i]);
		sum += xmlXPathCastToNumber(answer) > 0 ? xmlXPathCastToNumber(answer) : 1;
		xmlXPathFreeObject(answer);
	}
	xmlXPathFreeContext(context);
	return sum;
}

int main(int argc, char **argv)
{
	struct workload workload = workload_of(argc, argv);
	size_t size;
	char *text = catalog(&size);
	double sum = 0;

	for (unsigned i = workload_part(&workload, 50); i > 0; i--) {
		xmlDoc *document =
		        xmlReadMemory(text, (int)size, "catalog.xml", NULL, XML_PARSE_NOENT);
		xmlChar *again;
		int length;

		workload_check(document, "xmlReadMemory");
		sum += ask(document);
		xmlDocDumpMemory(document, &again, &length);
		sum += length;
		if (workload.keep)
			break;
		xmlFree(again);
		xmlFreeDoc(document);
	}
	printf("%.1f\n", sum);
	if (!workload.keep) {
		xmlCleanupParser();
		free(text);
	}
	return 0;
}
