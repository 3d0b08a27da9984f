import { nearestName } from '#util/did-you-mean.ts';
import { isJsonObject, type JsonObject, pointerTo } from '#util/json.ts';
import {
  type ConversionProblem,
  type ConversionRules,
  type FieldForm,
  type FieldRule,
  namedForms,
  plainForms,
  type VersionRules,
} from './conversion-rules.ts';
import { eachItem, inOwnNotation, parseRulePath } from './rule-path.ts';

/** Rules, or all that is wrong with them. */
export type ParsedRules =
  | { readonly rules: ConversionRules; readonly problems?: undefined }
  | { readonly problems: readonly ConversionProblem[]; readonly rules?: undefined };

/**
 * Parses `conversions` of a definition. Checks what needs no schema: the shape, the syntax of paths, and that a version and a path occur
 * once. The rest is in `checkConversion`. Pure; never throws.
 */
export function parseConversionRules(json: unknown): ParsedRules {
  const problems: ConversionProblem[] = [];
  const report: Report = (path, message, hint, isOfSchema) => {
    problems.push({
      ...{ path, message, severity: 'error' },
      ...(hint !== undefined && { hint }),
      ...(isOfSchema && { isOfSchema }),
    });
  };
  const rules = parseAll(json, report);
  return rules === undefined || problems.length > 0 ? { problems } : { rules };
}

type Report = (path: string, message: string, hint?: string, isOfSchema?: true) => void;

function parseAll(json: unknown, report: Report): ConversionRules | undefined {
  const object = objectOf(json, '', ['hub', 'versions'], report);
  if (object === undefined) return undefined;
  const hub = textOf(object.hub, '/hub', report);
  const versions = listOf(object.versions, '/versions', report).map((each, index) =>
    parseVersion(each, `/versions/${index}`, report),
  );
  const seen = new Set<string>();
  for (const [index, each] of versions.entries()) {
    if (each === undefined) continue;
    const at = `/versions/${index}/version`;
    if (each.version === hub)
      report(
        at,
        `Version "${each.version}" is the hub, which has no rules of its own`,
        'List the other versions: each rule says where the hub has a field',
      );
    else if (seen.has(each.version))
      report(at, `Version "${each.version}" occurs twice`, 'Put all its fields into one entry');
    seen.add(each.version);
  }
  if (hub === undefined) return undefined;
  return { hub, versions: versions.filter((each) => each !== undefined) };
}

function parseVersion(json: unknown, path: string, report: Report): VersionRules | undefined {
  const object = objectOf(json, path, ['version', 'fields', 'drop'], report);
  if (object === undefined) return undefined;
  const version = textOf(object.version, `${path}/version`, report);
  const fields = listOf(object.fields ?? [], `${path}/fields`, report).map((each, index) =>
    parseField(each, `${path}/fields/${index}`, report),
  );
  const drop = listOf(object.drop ?? [], `${path}/drop`, report).map((each, index) =>
    pathOf(each, `${path}/drop/${index}`, report),
  );
  if (version === undefined) return undefined;
  return {
    version,
    fields: fields.filter((each) => each !== undefined),
    drop: drop.filter((each) => each !== undefined),
  };
}

function parseField(json: unknown, path: string, report: Report): FieldRule | undefined {
  const object = objectOf(json, path, ['here', 'there', 'values', 'as'], report);
  if (object === undefined) return undefined;
  const here = pathOf(object.here, `${path}/here`, report);
  const there = pathOf(object.there, `${path}/there`, report);
  const values =
    object.values === undefined ? undefined : valuesOf(object.values, `${path}/values`, report);
  const form = object.as === undefined ? undefined : formOf(object.as, `${path}/as`, report);
  if (object.values !== undefined && object.as !== undefined)
    report(`${path}/as`, 'A rule has either "values" or "as"', 'Remove one of them');
  if (here === undefined || there === undefined) return undefined;
  if (itemSteps(here) !== itemSteps(there))
    report(
      `${path}/there`,
      `"here" has ${itemSteps(here)} of "[]", and "there" has ${itemSteps(there)}`,
      'Both paths need the same number: a value of each item has its place in an item',
    );
  return { here, there, ...(values && { values }), ...(form && { as: form }) };
}

function itemSteps(path: string): number {
  return (parseRulePath(path) ?? []).filter((step) => step === eachItem).length;
}

function valuesOf(
  json: unknown,
  path: string,
  report: Report,
): Readonly<Record<string, string>> | undefined {
  if (!isJsonObject(json)) {
    report(path, 'Expected a map of texts');
    return undefined;
  }
  const texts: [string, string][] = [];
  for (const [key, value] of Object.entries(json)) {
    const text = textOf(value, pointerTo(path, key), report);
    if (text !== undefined) texts.push([key, text]);
  }
  return Object.fromEntries(texts);
}

function formOf(json: unknown, path: string, report: Report): FieldForm | undefined {
  const plain = plainForms.find((form) => form === json);
  if (plain !== undefined) return plain;
  const [name = '', field, ...more] = isJsonObject(json) ? Object.entries(json).flat() : [];
  const named = namedForms.find((form) => form === name);
  if (named !== undefined && typeof field === 'string' && field !== '' && more.length === 0)
    return { [named]: field } as unknown as FieldForm;
  const { message, hint } = wrongForm(typeof json === 'string' ? json : String(name), more.length);
  report(path, message, hint);
  return undefined;
}

const formTexts = [...plainForms, ...namedForms.map((form) => `{ ${form}: name }`)];

/** What is wrong with a form, by its name and the number of other fields. */
function wrongForm(
  name: string,
  more: number,
): { readonly message: string; readonly hint: string } {
  const all = `Forms are ${formTexts.join(', ')}`;
  if (name === '') return { message: 'Expected the name of a form', hint: all };
  if (more > 0) return { message: 'A rule has one form', hint: 'Use the one that fits' };
  if (plainForms.some((form) => form === name))
    return { message: `"${name}" has no field`, hint: `Write it as a word: "as: ${name}"` };
  if (namedForms.some((form) => form === name))
    return {
      message: `"${name}" needs the name of a field`,
      hint: `Write it as { ${name}: name }, where "name" is ${formFields[name as NamedForm]}`,
    };
  const nearest = nearestName(name, [...plainForms, ...namedForms]);
  return {
    message: `Unknown form "${name}"`,
    hint: nearest === undefined ? all : `Did you mean "${nearest}"?`,
  };
}

type NamedForm = (typeof namedForms)[number];

/** What the field of a form contains. */
const formFields: Readonly<Record<NamedForm, string>> = {
  itemsToObjects: 'the field of the objects with the text',
  objectsToItems: 'the field of the objects with the text',
  mapToList: 'the field of the items with the key',
  listToMap: 'the field of the items with the key',
};

/** A path that a rule may name. Of metadata, the API server accepts changed labels and annotations only; those belong to users. */
function pathOf(json: unknown, path: string, report: Report): string | undefined {
  const text = textOf(json, path, report);
  if (text === undefined) return undefined;
  const steps = parseRulePath(text);
  if (steps === undefined) {
    const plain = inOwnNotation(text);
    const hint = plain === undefined ? 'Write it as spec.rules[].port' : `Did you mean "${plain}"?`;
    report(path, `"${text}" is not a path`, hint);
  } else if (steps[0] === 'metadata' || steps[0] === 'apiVersion' || steps[0] === 'kind')
    report(path, `A conversion must not change "${text}"`, 'Paths begin with spec or status');
  else return text;
  return undefined;
}

function objectOf(
  json: unknown,
  path: string,
  known: readonly string[],
  report: Report,
): JsonObject | undefined {
  if (!isJsonObject(json)) {
    report(path, 'Expected an object');
    return undefined;
  }
  for (const key of Object.keys(json)) {
    if (known.includes(key)) continue;
    const nearest = nearestName(key, known);
    const hint = nearest === undefined ? undefined : `Did you mean "${nearest}"?`;
    report(pointerTo(path, key), `Unknown field "${key}"`, hint, true);
  }
  return json;
}

function listOf(json: unknown, path: string, report: Report): readonly unknown[] {
  if (Array.isArray(json)) return json;
  report(path, 'Expected a list');
  return [];
}

function textOf(json: unknown, path: string, report: Report): string | undefined {
  if (typeof json === 'string' && json !== '') return json;
  report(path, 'Expected a text that is not empty');
  return undefined;
}
