import type { YamlText } from '#conversion';
import { readDocuments } from './read-documents.ts';
import { printYaml, YamlError } from './yaml-text.ts';

/** How conversions (`textToYaml`) read and write YAML: the same in each process, so that all of them convert an object alike. */
export const conversionYaml: YamlText = {
  parse(text) {
    // Expressions are not looked for: the text of a resource has none, and each broken one would be another parse.
    const { documents, syntaxErrors } = readDocuments(text, '', 'kubectl', 0);
    if (syntaxErrors.length > 0 || documents.length > 1)
      throw new YamlError('yaml-syntax', 'Expected one YAML document');
    return documents[0]?.value ?? null;
  },
  print: printYaml,
};
