import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import type { DiagnosticView } from '../contract.ts';
import { h, type VNode } from '../preact.ts';
import { button, type Content, glyph, muted } from './elements.ts';

/** The schema of `spec` in a CRD. */
export type FormSchema = JsonObject;

/** The schema of `spec` of a version of a CRD. Undefined: it has none. */
export function specSchema(crd: unknown, version: string): FormSchema | undefined {
  const spec = isJsonObject(crd) && isJsonObject(crd.spec) ? crd.spec : {};
  const versions = Array.isArray(spec.versions) ? spec.versions.filter(isJsonObject) : [];
  const found = versions.find(({ name }) => name === version);
  const schema = propertyOf(propertyOf(found, 'schema'), 'openAPIV3Schema');
  return propertyOf(propertyOf(schema, 'properties'), 'spec');
}

function propertyOf(value: unknown, name: string): JsonObject | undefined {
  const field = isJsonObject(value) ? value[name] : undefined;
  return isJsonObject(field) ? field : undefined;
}

type Change = (value: Json | undefined) => void;

export interface SchemaFormOptions {
  readonly schema: FormSchema;
  readonly value: unknown;
  /** Those with a field of the form are shown at it. */
  readonly diagnostics: readonly DiagnosticView[];
  readonly onChange: (value: Json) => void;
}

/** A form for a value of a schema. Fields of other types are left to YAML. */
export function schemaForm({ schema, value, diagnostics, onChange }: SchemaFormOptions): VNode {
  const problems = { all: diagnostics, shown: new Set<DiagnosticView>() };
  const fields = fieldsOf({
    schema,
    value,
    path: 'spec',
    problems,
    onChange: (next) => onChange(next ?? {}),
  });
  const others = diagnostics.filter((problem) => !problems.shown.has(problem));
  return h(
    'form',
    { class: 'schema-form', onSubmit: (event: Event) => event.preventDefault() },
    fields,
    others.map((problem) => problemView(problem)),
  );
}

type Group = Pick<Field, 'schema' | 'value' | 'path' | 'problems' | 'onChange'>;

function fieldsOf({ schema, value, path, problems, onChange }: Group): Content {
  const properties = propertyOf(schema, 'properties') ?? {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  const object = isJsonObject(value) ? value : {};
  return Object.entries(properties).map(([name, property]) =>
    isJsonObject(property)
      ? field({
          name,
          schema: property,
          value: object[name],
          path: `${path}.${name}`,
          problems,
          isRequired: required.includes(name),
          onChange: (next) => onChange(withField(object, name, next)),
        })
      : null,
  );
}

function withField(object: JsonObject, name: string, value: Json | undefined): JsonObject {
  const { [name]: _, ...others } = object;
  return value === undefined ? others : { ...object, [name]: value };
}

interface Field {
  readonly name: string;
  readonly path: string;
  readonly schema: JsonObject;
  readonly value: unknown;
  readonly isRequired: boolean;
  readonly problems: FormProblems;
  readonly onChange: Change;
}

interface FormProblems {
  readonly all: readonly DiagnosticView[];
  /** Those that are shown at a field. */
  readonly shown: Set<DiagnosticView>;
}

function problemsAt({ path, problems }: Pick<Field, 'path' | 'problems'>): Content {
  const found = problems.all.filter(({ field: at }) => at === path);
  for (const problem of found) problems.shown.add(problem);
  return found.map((problem) => problemView(problem));
}

function field(of: Field): VNode {
  const { name, path, schema, isRequired } = of;
  const description = typeof schema.description === 'string' ? schema.description : '';
  const isGroup = schema.type === 'object' || schema.type === 'array';
  const label = [
    name,
    isRequired ? h('span', { class: 'required', title: 'required' }, ' *') : null,
  ];
  if (isGroup)
    return h(
      'fieldset',
      { key: path },
      h('legend', null, label),
      description === '' ? null : h('p', { class: 'muted' }, description),
      problemsAt(of),
      schema.type === 'array' ? list(of) : objectField(of),
    );
  return h(
    'div',
    { key: path },
    h(
      'label',
      { class: 'field' },
      h('span', { class: 'name' }, label),
      scalar(of),
      description === '' ? null : h('span', { class: 'muted' }, description),
    ),
    problemsAt(of),
  );
}

function problemView({ severity, message }: DiagnosticView): VNode {
  const health = severity === 'error' ? 'failing' : 'progressing';
  return h('p', { class: `diagnostic ${severity}`, key: message }, glyph(health), ` ${message}`);
}

function objectField(of: Field): Content {
  if (propertyOf(of.schema, 'properties') !== undefined) return fieldsOf(of);
  const values = propertyOf(of.schema, 'additionalProperties');
  return values === undefined ? muted('Edit this field as YAML.') : map({ ...of, values });
}

/** A map of names to values: a row for each entry. */
function map({
  values,
  value,
  path,
  problems,
  onChange,
}: Pick<Field, 'value' | 'path' | 'problems' | 'onChange'> & {
  readonly values: JsonObject;
}): Content {
  const object = isJsonObject(value) ? value : {};
  return [
    Object.entries(object).map(([name, item]) =>
      h(
        'div',
        { class: 'item', key: `${path}.${name}` },
        field({
          name,
          schema: values,
          value: item,
          path: `${path}.${name}`,
          problems,
          isRequired: false,
          onChange: (next) => onChange(withField(object, name, next)),
        }),
        button('Remove', () => onChange(withField(object, name, undefined))),
      ),
    ),
    h('input', {
      class: 'new-name',
      placeholder: 'New name, then Enter',
      'aria-label': `New name in ${path}`,
      onKeyDown: (event: KeyboardEvent) => {
        const input = event.target as HTMLInputElement;
        if (event.key !== 'Enter' || input.value === '') return;
        onChange({ ...object, [input.value]: initial(values) });
        input.value = '';
      },
    }),
  ];
}

function list({ schema, value, path, problems, onChange }: Field): Content {
  const items = Array.isArray(value) ? (value as readonly Json[]) : [];
  const of = propertyOf(schema, 'items');
  if (of === undefined) return muted('Edit this field as YAML.');
  return [
    items.map((item, index) =>
      h(
        'div',
        { class: 'item', key: `${path}[${index}]` },
        field({
          name: String(index),
          schema: of,
          value: item,
          path: `${path}[${index}]`,
          problems,
          isRequired: false,
          onChange: (next) => onChange(items.with(index, next ?? initial(of))),
        }),
        button('Remove', () => onChange(items.toSpliced(index, 1))),
      ),
    ),
    button('Add', () => onChange([...items, initial(of)])),
  ];
}

/** The first value of a new item. */
function initial({ type, default: value, enum: values }: JsonObject): Json {
  if (value !== undefined) return value;
  if (Array.isArray(values)) return values[0] ?? '';
  switch (type) {
    case 'integer':
    case 'number':
      return 0;
    case 'boolean':
      return false;
    case 'object':
      return {};
    case 'array':
      return [];
    default:
      return '';
  }
}

function scalar(of: Field): Content {
  const { name, path, schema, value, isRequired, problems, onChange } = of;
  const { type, default: byDefault, enum: values } = schema;
  const isInvalid = problems.all.some((problem) => problem.field === path);
  const attributes = {
    'aria-label': `${name} (${path})`,
    required: isRequired,
    ...(isInvalid && { 'aria-invalid': true as const }),
  };
  if (Array.isArray(values))
    return h(
      'select',
      {
        ...attributes,
        onChange: (event: Event) =>
          onChange((event.target as HTMLSelectElement).value || undefined),
      },
      isRequired
        ? null
        : h(
            'option',
            { value: '', selected: value === undefined },
            byDefault === undefined ? '(not set)' : `(default: ${String(byDefault)})`,
          ),
      values.map((each) =>
        h(
          'option',
          { key: String(each), value: String(each), selected: each === value },
          String(each),
        ),
      ),
    );
  if (type === 'boolean')
    return h('input', {
      ...attributes,
      type: 'checkbox',
      required: false,
      checked: (value ?? byDefault) === true,
      onChange: (event: Event) => onChange((event.target as HTMLInputElement).checked),
    });
  const isNumber = type === 'integer' || type === 'number';
  if (!isNumber && type !== 'string' && schema['x-kubernetes-int-or-string'] !== true)
    return muted('Edit this field as YAML.');
  const shared = {
    ...attributes,
    placeholder: byDefault === undefined ? '' : String(byDefault),
    value: value === undefined ? '' : String(value),
    onInput: (event: Event) => {
      const { value: text } = event.target as HTMLInputElement;
      if (text === '') onChange(undefined);
      else onChange(isNumber && !Number.isNaN(Number(text)) ? Number(text) : text);
    },
  };
  if (!isNumber)
    return h('input', {
      ...shared,
      type: 'text',
      ...(typeof schema.pattern === 'string' && { title: `Pattern ${schema.pattern}` }),
    });
  return h('input', {
    ...shared,
    type: 'number',
    ...(type === 'integer' && { step: 1 }),
    ...(typeof schema.minimum === 'number' && { min: schema.minimum }),
    ...(typeof schema.maximum === 'number' && { max: schema.maximum }),
  });
}
