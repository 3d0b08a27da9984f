import { isJsonObject } from '#util/json.ts';
import {
  formatRequirement,
  isLabelKey,
  isLabelValue,
  type LabelRequirement,
} from '#util/label-selector.ts';
import type { CompiledSelector, CompiledTemplates } from '../compiled-templates.ts';
import {
  type CompiledTemplate,
  fieldsOf,
  nodeAt,
  type TemplateNode,
} from '../template/template.ts';

/** The static parts of a selector. */
interface SelectorShape {
  /** In the order written; an undefined value is computed. Undefined: the keys are computed. */
  readonly labels: ReadonlyMap<string, string | undefined> | undefined;
  /** Requirements without expressions. */
  readonly requirements: readonly LabelRequirement[];
}

/** Analyses a selector; follows `${ vars.labels }` to the map of the var. */
export function shapeOfSelector(
  { matchLabels, matchExpressions }: CompiledSelector,
  vars: CompiledTemplates['vars'],
): SelectorShape {
  return {
    labels: matchLabels === undefined ? new Map() : labelsOf(resolveVar(matchLabels, vars)),
    requirements: requirementsOf(matchExpressions),
  };
}

/** The label selector for a watch, in API syntax: `app=podSet,podSet_cr`. Undefined: the watch cannot be narrowed. */
export function watchSelectorOf({ labels, requirements }: SelectorShape): string | undefined {
  const parts = [
    ...(labels ?? new Map<string, string | undefined>())
      .entries()
      .map(([key, value]) => (value === undefined ? key : `${key}=${value}`)),
    ...requirements.map(formatRequirement),
  ];
  return parts.length === 0 ? undefined : parts.join(',');
}

interface NodeOwner {
  readonly node: TemplateNode;
  readonly owner: CompiledTemplate;
}

/** The node that a plain `${ vars.x.y }` refers to, if it is literal. */
function resolveVar(template: CompiledTemplate, vars: CompiledTemplates['vars']): TemplateNode {
  let { node, owner }: NodeOwner = { node: template.root, owner: template };
  // Limits the chain of vars; cycles have been reported.
  for (let links = 0; links <= vars.size && node.kind === 'slot'; links++) {
    const found = throughVar({ node, owner }, vars);
    if (found === undefined) break;
    ({ node, owner } = found);
  }
  return node;
}

function throughVar(
  { node, owner }: NodeOwner,
  vars: CompiledTemplates['vars'],
): NodeOwner | undefined {
  const leaf = node.kind === 'slot' ? owner.slots[node.slot]?.leaf : undefined;
  if (leaf?.kind !== 'value' || !leaf.expression.isPlainPath) return undefined;
  const [reference] = leaf.expression.references;
  if (reference?.root !== 'vars') return undefined;
  const [name = '', ...steps] = reference.path;
  const next = vars.get(name);
  if (next === undefined) return undefined;
  const inner = nodeAt(next.root, steps);
  return inner && { node: inner, owner: next };
}

function labelsOf(node: TemplateNode): ReadonlyMap<string, string | undefined> | undefined {
  const fields = fieldsOf(node)?.entries();
  return fields && new Map(fields.map(([key, value]) => [key, writtenLabel(value)]));
}

function writtenLabel(node: TemplateNode): string | undefined {
  return node.kind === 'constant' ? labelText(node.value) : undefined;
}

/** The label value, or undefined if invalid: a watch cannot use it, and rendering rejects it. */
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

/** Parses rendered requirements; undefined if invalid. */
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
  if (!isJsonObject(item)) return undefined;
  const { key, operator: written, values: given } = item;
  const operator = operators.find((each) => each === written);
  if (typeof key !== 'string' || !isLabelKey(key) || operator === undefined) return undefined;
  const values = (given === undefined ? [] : Array.isArray(given) ? given : [given]).map(labelText);
  if (!values.every((value) => value !== undefined)) return undefined;
  const wantsValues = operator === 'In' || operator === 'NotIn';
  if (wantsValues !== values.length > 0) return undefined;
  return { key, operator, values };
}
