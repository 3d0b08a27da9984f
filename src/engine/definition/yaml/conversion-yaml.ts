import type { YamlText } from '#conversion';
import { parseYaml, printYaml } from './yaml-text.ts';

/** How conversions (`textToYaml`) read and write YAML: the same in each process, so that all of them convert an object alike. */
export const conversionYaml: YamlText = {
  parse: (text) => parseYaml(text, 'kubectl'),
  print: printYaml,
};
