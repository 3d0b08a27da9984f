import { isJsonObject } from '#util/json.ts';
import { escapedJson, needsEscapes } from '#util/yaml-string.ts';

/** A line of YAML for reading: its indentation, the key with its colon, and the value. */
export interface YamlLine {
  readonly indent: number;
  readonly dash: boolean;
  readonly key: string;
  readonly value: string;
}

/** Prints a value as YAML lines, for reading: lines of texts stay lines. kubectl and parsers of YAML 1.2 get the same value from them. */
export function yamlLines(value: unknown, indent = 0): readonly YamlLine[] {
  if (isJsonObject(value))
    return Object.entries(value).flatMap(([key, field]) => entryLines(key, field, indent));
  if (Array.isArray(value)) return value.flatMap((item) => itemLines(item, indent));
  return [{ indent, dash: false, key: '', value: scalar(value) }];
}

/** The text of lines. */
export function yamlText(value: unknown): string {
  return yamlLines(value)
    .map(
      (line) =>
        `${' '.repeat(line.indent)}${line.dash ? '- ' : ''}${line.key}${line.key !== '' && line.value !== '' ? ' ' : ''}${line.value}`,
    )
    .join('\n');
}

function entryLines(key: string, field: unknown, indent: number): readonly YamlLine[] {
  const isPlain = /^[A-Za-z_][\w./$-]*$/.test(key) && !reserved.test(key);
  const name = `${isPlain ? key : escapedJson(key)}:`;
  const head = { indent, dash: false, key: name };
  if (isJsonObject(field) && Object.keys(field).length > 0)
    return [{ ...head, value: '' }, ...yamlLines(field, indent + 2)];
  if (Array.isArray(field) && field.length > 0)
    return [{ ...head, value: '' }, ...yamlLines(field, indent)];
  if (typeof field === 'string' && field.includes('\n') && isBlock(field))
    return [{ ...head, value: field.endsWith('\n') ? '|' : '|-' }, ...textLines(field, indent + 2)];
  return [{ ...head, value: scalar(field) }];
}

function itemLines(item: unknown, indent: number): readonly YamlLine[] {
  if (Array.isArray(item) && item.length > 0)
    return [{ indent, dash: true, key: '', value: '' }, ...yamlLines(item, indent + 2)];
  const [first, ...rest] = yamlLines(item, indent + 2);
  if (first === undefined) return [{ indent, dash: true, key: '', value: scalar(item) }];
  return [{ ...first, indent, dash: true }, ...rest];
}

/** Whether a block scalar keeps the text: no indentation that needs an indicator, at most one line break at its end, no control characters. */
function isBlock(text: string): boolean {
  return !/^[\s#]|\n\n$|[^\n\t\P{Cc}]/u.test(text) && !needsEscapes(text);
}

function textLines(text: string, indent: number): readonly YamlLine[] {
  return text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => ({ indent: line === '' ? 0 : indent, dash: false, key: '', value: line }));
}

const plain = /^[A-Za-z_./][\w./@ -]*$/;
const reserved = /^(?:true|false|null|yes|no|y|n|on|off|\.inf|\.nan|\.\d.*)$/i;

function scalar(value: unknown): string {
  if (typeof value === 'string')
    return plain.test(value) && !reserved.test(value) && !value.endsWith(' ')
      ? value
      : escapedJson(value);
  return JSON.stringify(value) ?? 'null';
}
