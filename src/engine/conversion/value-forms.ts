import { isJsonObject } from '#util/json.ts';
import type { FieldForm, FieldRule } from './conversion-rules.ts';
import { formatDuration, parseDurationSeconds } from './go-duration.ts';

/** What a rule does with a value, in the direction of a conversion. */
export type ValueForm =
  | { readonly kind: 'copy' }
  | { readonly kind: 'table'; readonly values: ReadonlyMap<string, string> }
  | { readonly kind: 'durationToSeconds' | 'secondsToDuration' }
  | { readonly kind: 'textToYaml' | 'yamlToText' }
  | { readonly kind: 'itemsToObjects' | 'objectsToItems'; readonly field: string }
  | { readonly kind: 'mapToList' | 'listToMap'; readonly field: string };

/** YAML as a conversion reads and writes it: this room imports no library. */
export interface YamlText {
  /** @throws any error for a text that is no YAML */
  parse(text: string): unknown;
  print(value: unknown): string;
}

/** Reads a value; undefined for one that cannot be expressed. */
export type Transform = (value: unknown) => unknown;

const inverse = {
  copy: 'copy',
  durationToSeconds: 'secondsToDuration',
  secondsToDuration: 'durationToSeconds',
  textToYaml: 'yamlToText',
  yamlToText: 'textToYaml',
  itemsToObjects: 'objectsToItems',
  objectsToItems: 'itemsToObjects',
  mapToList: 'listToMap',
  listToMap: 'mapToList',
} as const;

/** The form of a rule from its version to the hub. */
export function formOfRule({ values, as }: FieldRule): ValueForm {
  if (values !== undefined) return { kind: 'table', values: new Map(Object.entries(values)) };
  if (as === undefined) return { kind: 'copy' };
  if (typeof as === 'string') return { kind: as };
  const [[kind, field] = []] = Object.entries(as) as [NamedKind, string][];
  return kind === undefined ? { kind: 'copy' } : { kind, field: field ?? '' };
}

type NamedKind =
  Exclude<FieldForm, string> extends infer Form
    ? Form extends unknown
      ? keyof Form
      : never
    : never;

/** The form in the other direction. Of several values that become the same one, the first is used. */
export function inverseForm(form: ValueForm): ValueForm {
  if (form.kind === 'table') {
    const values = new Map<string, string>();
    for (const [here, there] of form.values) if (!values.has(there)) values.set(there, here);
    return { kind: 'table', values };
  }
  return { ...form, kind: inverse[form.kind] } as ValueForm;
}

/** The text as seconds, rounded up to a whole number where the target has integers. */
export function durationToSeconds(isWhole: boolean): Transform {
  return (value) => {
    const seconds = typeof value === 'string' ? parseDurationSeconds(value) : undefined;
    return seconds !== undefined && isWhole ? Math.ceil(seconds) : seconds;
  };
}

export function secondsToDuration(value: unknown): unknown {
  return typeof value === 'number' ? formatDuration(value) : undefined;
}

/** Texts as objects with the text in one field. Each text once: such lists usually have the field as their key. */
export function itemsToObjects(field: string): Transform {
  return (value) => (Array.isArray(value) ? value.map((each) => ({ [field]: each })) : undefined);
}

export function objectsToItems(field: string): Transform {
  return (value) => {
    if (!Array.isArray(value)) return undefined;
    return value.flatMap((each) => {
      const text = isJsonObject(each) ? each[field] : undefined;
      return text === undefined || text === null ? [] : [text];
    });
  };
}

/** A map as a list in the order of its keys; `convert` is that of its values. */
export function mapToList(field: string, convert: Transform): Transform {
  return (value) => {
    if (!isJsonObject(value)) return undefined;
    return Object.keys(value)
      .sort()
      .flatMap((key) => {
        // The API server removes values that are null.
        const item = convert(value[key]);
        return isJsonObject(item) ? [{ ...item, [field]: key }] : [];
      });
  };
}

/** A list as a map. Of items with the same key, the first is used. */
export function listToMap(field: string, convert: Transform): Transform {
  return (value) => {
    if (!Array.isArray(value)) return undefined;
    const map: [string, unknown][] = [];
    const keys = new Set<unknown>();
    for (const item of value) {
      const key = isJsonObject(item) ? item[field] : undefined;
      if (typeof key !== 'string' || keys.has(key)) continue;
      keys.add(key);
      const { [field]: _, ...rest } = item;
      const converted = convert(rest);
      if (isJsonObject(converted)) map.push([key, converted]);
    }
    return Object.fromEntries(map);
  };
}
