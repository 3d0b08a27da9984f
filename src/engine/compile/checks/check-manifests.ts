import { isDnsLabel } from '#definition';
import { pointerTo } from '#util/json.ts';
import { isLabelKey, isLabelValue } from '#util/label-selector.ts';
import { isZero } from '#util/zero-value.ts';
import type { CheckContext } from '../check-context.ts';
import type { CompiledChild } from '../compiled-templates.ts';
import type { Diagnostics } from '../diagnostics.ts';
import type { SchemaType, StructType } from '../schema/schema-type.ts';
import {
  type CompiledTemplate,
  fieldsOf,
  nodeAt,
  type Slot,
  type TemplateNode,
} from '../template/template.ts';
import { typedNodes } from './typed-nodes.ts';
import { neverEqual } from './written-values.ts';

/** Reports what the API server rejects for every value of the expressions in a child's manifest. */
export function checkManifests({ parts, diagnostics }: CheckContext): void {
  warnAboutObjects(parts.children, diagnostics);
  for (const child of parts.objects) {
    checkName(child, diagnostics);
    checkLabels(child, diagnostics);
    checkSelector(child, diagnostics);
    checkData(child, diagnostics);
    warnAboutRequired(child, diagnostics);
  }
}

/** RBAC accepts all characters that a path segment can have. */
const freeNameGroup = 'rbac.authorization.k8s.io';

/** What the names of a kind look like, and their literal parts. */
interface NameRule {
  readonly isName: (text: string) => boolean;
  readonly part: RegExp;
  readonly hint: string;
}

const subdomain: NameRule = {
  isName: (text) => /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/.test(text),
  part: /^[-a-z0-9.]*$/,
  hint: 'Use lowercase letters, digits, "-" and ".", with a letter or digit at both ends',
};
const label: NameRule = {
  isName: isDnsLabel,
  part: /^[-a-z0-9]*$/,
  hint: 'Use at most 63 lowercase letters, digits and "-": names of this kind have no "."',
};

/** Kinds whose names are parts of DNS names, by group and kind. */
const labelKinds = new Set([' Service', ' Namespace', 'apps StatefulSet']);

function checkName({ definition, template }: CompiledChild, diagnostics: Diagnostics): void {
  const name = textAt(template, ['metadata', 'name']);
  const { group, kind } = definition.gvk;
  if (name === undefined || group === freeNameGroup) return;
  const { isName, part, hint } = labelKinds.has(`${group} ${kind}`) ? label : subdomain;
  if (name.isLiteral ? isName(name.text) : name.parts.every((text) => part.test(text))) return;
  diagnostics.report({
    code: 'invalid-value',
    message: `The API server rejects the name "${name.text}"`,
    hint,
    path: pointerOf(template.pointer, ['metadata', 'name']),
  });
}

/** Warns about two children that are the same object, of which one always exists: the other one fails. */
function warnAboutObjects(children: readonly CompiledChild[], diagnostics: Diagnostics): void {
  const known = new Map<string, string>();
  // Two children with conditions may exclude each other, so they are only compared with those that always exist.
  const always = children.filter(({ when }) => when === undefined);
  const sometimes = children.filter(({ when, stage }) => when !== undefined && stage === 'always');
  for (const { definition, template, when, forEach, cluster } of [...always, ...sometimes]) {
    const name = textAt(template, ['metadata', 'name'])?.text;
    if (name === undefined || (forEach ?? cluster) !== undefined) continue;
    const namespace = textAt(template, ['metadata', 'namespace'])?.text ?? '';
    const { group, kind } = definition.gvk;
    const key = JSON.stringify([group, kind, namespace, name]);
    const other = known.get(key);
    if (other === undefined) {
      if (when === undefined) known.set(key, definition.id);
    }
    // Two children with one id are reported as such.
    else if (other !== definition.id)
      diagnostics.report({
        severity: 'warning',
        code: 'duplicate-id',
        message: `${kind} "${name}" is also the object of child "${other}"`,
        hint: `Write another name: "${name}-${definition.id.toLowerCase()}"`,
        path: pointerOf(template.pointer, ['metadata', 'name']),
      });
  }
}

const selecting = new Set(['Deployment', 'ReplicaSet', 'StatefulSet', 'DaemonSet']);
const selectorPath = ['spec', 'selector', 'matchLabels'];
const labelsPath = ['spec', 'template', 'metadata', 'labels'];

/** Literal labels of the object and of its Pods. */
function checkLabels({ template }: CompiledChild, diagnostics: Diagnostics): void {
  for (const steps of [['metadata', 'labels'], labelsPath]) {
    const labels = nodeAt(template.root, steps);
    for (const [key, node] of (labels && fieldsOf(labels)) ?? []) {
      const value = node.kind === 'constant' ? node.value : undefined;
      const path = pointerOf(template.pointer, [...steps, key]);
      const code = 'invalid-value';
      // An expression that is wrong, or a path without its braces, has a diagnostic of its own.
      if ([key, value].some((text) => typeof text === 'string' && text.startsWith('$'))) continue;
      if (!isLabelKey(key)) {
        const message = `The API server rejects the label "${key}"`;
        const hint = 'Use letters, digits, "-", "_" and ".", maybe after a domain and "/"';
        diagnostics.report({ code, message, hint, path, at: 'key' });
      } else if (typeof value === 'string' && !isLabelValue(value)) {
        const message = `The API server rejects the value "${value}" of the label "${key}"`;
        const hint = 'Use at most 63 letters, digits, "-", "_" and ".", or write an annotation';
        diagnostics.report({ code, message, hint, path });
      }
    }
  }
}

/** A workload must select its own Pods. */
function checkSelector({ definition, template }: CompiledChild, diagnostics: Diagnostics): void {
  if (definition.gvk.group !== 'apps' || !selecting.has(definition.gvk.kind)) return;
  const selector = nodeAt(template.root, selectorPath);
  const labels = nodeAt(template.root, labelsPath);
  const selected = selector && fieldsOf(selector);
  const given = labels && fieldsOf(labels);
  if (selected === undefined || given === undefined) return;
  for (const [label, node] of selected) {
    const other = given.get(label);
    const { slots } = template;
    if (other !== undefined && !neverEqual({ node, slots }, { node: other, slots })) continue;
    diagnostics.report({
      code: 'invalid-value',
      message: `The selector of the ${definition.gvk.kind} does not select its own Pods: label "${label}" ${other === undefined ? 'is missing' : 'differs'}`,
      hint: `Write the same label in "${labelsPath.join('.')}"`,
      path: pointerOf(template.pointer, [...selectorPath, label]),
      at: 'key',
    });
  }
}

/** The server decodes the values of `data` of a Secret. */
function checkData({ definition, template }: CompiledChild, diagnostics: Diagnostics): void {
  if (definition.gvk.group !== '' || definition.gvk.kind !== 'Secret') return;
  const data = nodeAt(template.root, ['data']);
  for (const [key, node] of (data && fieldsOf(data)) ?? []) {
    const slot = node.kind === 'slot' ? template.slots[node.slot] : undefined;
    if (slot !== undefined) warnAboutPlainValue(slot, key, diagnostics);
    if (node.kind !== 'constant' || typeof node.value !== 'string' || isBase64(node.value))
      continue;
    diagnostics.report({
      code: 'invalid-value',
      message: `The value of "data.${key}" of a Secret must be base64`,
      hint: 'Write the plain value in "stringData", or encode it: "${ $base64encode(...) }"',
      path: pointerOf(template.pointer, ['data', key]),
    });
  }
}

/**
 * Warns about a plain text where base64 is expected: a random one, the metadata of the resource, or a text that is no base64 around its
 * expressions. A plain text of a multiple of four characters is accepted, and decoded to other bytes.
 */
function warnAboutPlainValue(slot: Slot, key: string, diagnostics: Diagnostics): void {
  const { text, pointer } = slot;
  const at = text.indexOf('$randomString(');
  const isRandom = at >= 0 && !text.includes('$base64encode(');
  if (!isRandom && !isOfMetadata(slot) && !isPlainText(slot)) return;
  diagnostics.report({
    severity: 'warning',
    code: 'suspicious-expression',
    message: `"data.${key}" of a Secret is base64, and this is a plain text`,
    hint: isRandom
      ? 'Encode it: "$base64encode($randomString(...))"'
      : 'Write it in "stringData", or encode it: "${ $base64encode(...) }"',
    path: pointer,
    ...(isRandom ? { at } : {}),
  });
}

function isPlainText({ leaf }: Slot): boolean {
  const parts = leaf.kind === 'text' ? leaf.parts : [];
  return parts.some((part) => typeof part === 'string' && !/^[A-Za-z0-9+/=\s]*$/.test(part));
}

/** The name and the labels of the resource are no base64. A field of its spec may be. */
function isOfMetadata({ leaf }: Slot): boolean {
  if (leaf.kind !== 'value' || !leaf.expression.isPlainPath) return false;
  const [reference] = leaf.expression.references;
  return reference?.root === 'resource' && reference.path[0] === 'metadata';
}

function isBase64(text: string): boolean {
  const plain = text.replaceAll(/[\r\n]/g, '');
  return plain.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(plain);
}

/** Warns about fields that the schema of a built-in kind requires and the manifest lacks. */
function warnAboutRequired({ template, type }: CompiledChild, diagnostics: Diagnostics): void {
  if (type === undefined) return;
  for (const { steps, field } of missingIn(template.root, type)) {
    const place = steps.length === 0 ? 'the manifest' : `"${steps.join('.')}"`;
    diagnostics.report({
      severity: 'warning',
      code: 'missing-field',
      message: `The API server requires "${field}" in ${place}`,
      path: pointerOf(template.pointer, steps),
    });
  }
}

interface MissingField {
  readonly steps: readonly (string | number)[];
  readonly field: string;
}

function* missingIn(root: TemplateNode, manifest: SchemaType): Generator<MissingField> {
  for (const { node, type, steps } of typedNodes(root, manifest)) {
    const fields = fieldsOf(node);
    if (fields === undefined || type.kind !== 'struct' || !type.builtIn) continue;
    for (const field of type.required)
      if (!fields.has(field) && !hasDefault(type, field)) yield { steps, field };
  }
}

/** A zero value is no default: it is the value of a Go field that was not set. */
function hasDefault({ fields, defaults }: StructType, field: string): boolean {
  const value = defaults[field] ?? fields.get(field)?.defaultValue;
  return value !== undefined && value !== null && !isZero(value);
}

/** A text as written, and its literal parts. Undefined: there is none at this path. */
function textAt(
  { root, slots }: CompiledTemplate,
  steps: readonly string[],
):
  | { readonly text: string; readonly isLiteral: boolean; readonly parts: readonly string[] }
  | undefined {
  const found = nodeAt(root, steps);
  if (found?.kind === 'constant')
    return typeof found.value === 'string'
      ? { text: found.value, isLiteral: true, parts: [found.value] }
      : undefined;
  const slot = found?.kind === 'slot' ? slots[found.slot] : undefined;
  if (slot === undefined) return undefined;
  const { leaf, text } = slot;
  const parts = leaf.kind === 'text' ? leaf.parts.filter((part) => typeof part === 'string') : [];
  return { text, isLiteral: false, parts };
}

function pointerOf(start: string, steps: readonly (string | number)[]): string {
  return steps.reduce<string>((pointer, step) => pointerTo(pointer, step), start);
}
