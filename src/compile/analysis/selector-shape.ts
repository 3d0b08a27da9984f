import { type LabelRequirement, requirementText } from '../../util/label-selector.ts';
import { isLabelKey, isLabelValue } from '../../util/label-syntax.ts';
import type { DefinitionParts, SelectorParts } from '../definition-parts.ts';
import type { CompiledTemplate, TemplateNode } from '../template/template.ts';

/** What is known of a selector before a pass. */
export interface SelectorShape {
  /** In the order written; a value of undefined is computed. Undefined: the keys are not known. */
  readonly labels: ReadonlyMap<string, string | undefined> | undefined;
  /** Those without expressions. */
  readonly requirements: readonly LabelRequirement[];
}

/** Looks through `${ vars.labels }` to the map that is written there. */
export function shapeOfSelector(
  { matchLabels, matchExpressions }: SelectorParts,
  vars: DefinitionParts['vars'],
): SelectorShape {
  return {
    labels: matchLabels === undefined ? new Map() : labelsOf(resolveVar(matchLabels, vars)),
    requirements: requirementsOf(matchExpressions),
  };
}

/** The API's syntax of what a watch can be narrowed to: `app=podSet,podSet_cr`. Undefined: to nothing. */
export function watchSelectorOf({ labels, requirements }: SelectorShape): string | undefined {
  const parts = [
    ...(labels ?? new Map<string, string | undefined>())
      .entries()
      .map(([key, value]) => (value === undefined ? key : `${key}=${value}`)),
    ...requirements.map(requirementText),
  ];
  return parts.length === 0 ? undefined : parts.join(',');
}

interface NodeOwner {
  readonly node: TemplateNode;
  readonly owner: CompiledTemplate;
}

/** The node that a plain `${ vars.x.y }` stands for, as far as it is written out. */
function resolveVar(template: CompiledTemplate, vars: DefinitionParts['vars']): TemplateNode {
  let { node, owner }: NodeOwner = { node: template.root, owner: template };
  // A chain of vars ends; one in a circle has been reported.
  for (let links = 0; links <= vars.size && node.kind === 'slot'; links++) {
    const found = throughVar({ node, owner }, vars);
    if (found === undefined) break;
    ({ node, owner } = found);
  }
  return node;
}

function throughVar(
  { node, owner }: NodeOwner,
  vars: DefinitionParts['vars'],
): NodeOwner | undefined {
  const leaf = node.kind === 'slot' ? owner.slots[node.slot]?.leaf : undefined;
  if (leaf?.kind !== 'value' || !leaf.expression.isPlainPath) return undefined;
  const [reference] = leaf.expression.references;
  if (reference?.root !== 'vars') return undefined;
  const [name = '', ...steps] = reference.path;
  const next = vars.get(name);
  if (next === undefined) return undefined;
  let inner: TemplateNode | undefined = next.root;
  for (const step of steps) inner = fieldOf(inner, step);
  return inner && { node: inner, owner: next };
}

function fieldOf(node: TemplateNode | undefined, step: string): TemplateNode | undefined {
  if (node?.kind === 'map') return node.entries.find(({ key }) => key === step)?.node;
  if (node?.kind !== 'constant' || !isMap(node.value) || !Object.hasOwn(node.value, step)) {
    return undefined;
  }
  return { kind: 'constant', value: node.value[step] };
}

function labelsOf(node: TemplateNode): ReadonlyMap<string, string | undefined> | undefined {
  const labels = new Map<string, string | undefined>();
  if (node.kind === 'constant' && isMap(node.value)) {
    for (const [key, value] of Object.entries(node.value)) labels.set(key, labelText(value));
    return labels;
  }
  if (node.kind !== 'map') return undefined;
  for (const { key, node: value } of node.entries) {
    if (typeof key !== 'string') return undefined;
    labels.set(key, value.kind === 'constant' ? labelText(value.value) : undefined);
  }
  return labels;
}

/** What the server cannot read must not stand in a watch; rendering refuses it. */
function labelText(value: unknown): string | undefined {
  if (typeof value === 'object' || value === undefined) return undefined;
  const text = String(value);
  return isLabelValue(text) ? text : undefined;
}

function requirementsOf(template: CompiledTemplate | undefined): readonly LabelRequirement[] {
  const root = template?.root;
  if (root?.kind === 'constant') return readRequirements(root.value) ?? [];
  if (root?.kind !== 'list') return [];
  return root.items.flatMap(({ node }) =>
    node.kind === 'constant' ? (readRequirements([node.value]) ?? []) : [],
  );
}

/** Requirements as rendered; undefined when they are none. */
export function readRequirements(value: unknown): readonly LabelRequirement[] | undefined {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  const requirements: LabelRequirement[] = [];
  for (const item of list) {
    const requirement = readRequirement(item);
    if (requirement === undefined) return undefined;
    requirements.push(requirement);
  }
  return requirements;
}

const operators = ['In', 'NotIn', 'Exists', 'DoesNotExist'] as const;

function readRequirement(item: unknown): LabelRequirement | undefined {
  if (!isMap(item)) return undefined;
  const { key, operator: written, values: given } = item;
  const operator = operators.find((each) => each === written);
  if (typeof key !== 'string' || !isLabelKey(key) || operator === undefined) return undefined;
  const values = (given === undefined ? [] : Array.isArray(given) ? given : [given]).map(labelText);
  if (!values.every((value) => value !== undefined)) return undefined;
  const wantsValues = operator === 'In' || operator === 'NotIn';
  if (wantsValues !== values.length > 0) return undefined;
  return { key, operator, values };
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
