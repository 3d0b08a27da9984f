import { printYaml } from '../../definition/index.ts';
import type {
  DefinitionPlan,
  FieldChange,
  PlannedAction,
  PlannedChange,
  ResourcePlan,
} from '../../plan/index.ts';

export interface PlanSummary {
  readonly resources: number;
  /** Resources without any change. */
  readonly unchanged: number;
  readonly created: number;
  readonly changed: number;
  readonly deleted: number;
  readonly replaced: number;
  /** All changes, those of CustomResourceDefinitions too. */
  readonly changes: number;
}

interface PaintOptions {
  readonly hasColor: boolean;
}

const marks: Readonly<Record<PlannedAction, string>> = {
  create: '+',
  change: '~',
  delete: '-',
  replace: '±',
};
const colors: Readonly<Record<PlannedAction, number>> = {
  create: 32,
  change: 33,
  delete: 31,
  replace: 35,
};

/** Counts the changes of plans. Pure. */
export function summaryOf(plans: readonly DefinitionPlan[]): PlanSummary {
  const resources = plans.flatMap((plan) => plan.resources);
  const changes = resources.flatMap((resource) => resource.changes);
  const crds = plans.flatMap(crdsOf).length;
  const count = (action: PlannedAction) => changes.filter((each) => each.action === action).length;
  return {
    resources: resources.length,
    unchanged: resources.filter((resource) => resource.changes.length === 0).length,
    created: count('create'),
    changed: count('change'),
    deleted: count('delete'),
    replaced: count('replace'),
    changes: changes.length + crds,
  };
}

function crdsOf({ crd, memberCrds = [] }: DefinitionPlan): readonly PlannedChange[] {
  return crd === undefined ? memberCrds : [crd, ...memberCrds];
}

/** The plans as lines for a terminal. Resources without a change are only counted. Pure. */
export function planLines(
  plans: readonly DefinitionPlan[],
  options: PaintOptions,
): readonly string[] {
  const lines = plans.flatMap((plan) => definitionLines(plan, options));
  const isRejected = plans.every(({ rejection }) => rejection !== undefined);
  return isRejected ? lines : [...lines, summaryLine(plans)];
}

/** `12 resources: 3 created, 9 changed, 0 deleted, 1 replaced; 2 unchanged`, with the objects that change. */
function summaryLine(plans: readonly DefinitionPlan[]): string {
  const { resources, unchanged, created, changed, deleted, replaced } = summaryOf(plans);
  const total = resources === 1 ? '1 resource' : `${resources} resources`;
  return `${total}: ${created} created, ${changed} changed, ${deleted} deleted, ${replaced} replaced; ${unchanged} unchanged`;
}

function definitionLines(plan: DefinitionPlan, options: PaintOptions): readonly string[] {
  const { definition, revision, rejection, resources } = plan;
  const crds = crdsOf(plan);
  const title = `Definition "${definition}" (revision ${revision})`;
  if (rejection !== undefined) return [`${title}: rejected: ${rejection.message}`, ''];
  const shown = resources.filter(
    ({ changes, unresolved }) => changes.length > 0 || unresolved.length > 0,
  );
  const notes = notesOf(plan);
  if (crds.length === 0 && shown.length === 0 && notes.length === 0)
    return [`${title}: no changes`, ''];
  return [
    title,
    ...notes.map((note) => `  ${note}`),
    ...crds.flatMap((crd) => changeLines(crd, '  ', options)),
    ...shown.flatMap((resource) => resourceLines(resource, options)),
    '',
  ];
}

function notesOf({ heldDeletions, problems }: DefinitionPlan): readonly string[] {
  const held =
    heldDeletions === undefined
      ? []
      : [
          `! ${heldDeletions.count} objects would be deleted, more than controller.rollout.maxDeletions (${heldDeletions.maxDeletions}): none is deleted until you approve it`,
        ];
  return [...held, ...problems.map((problem) => `! The plan may be incomplete: ${problem}`)];
}

function resourceLines(resource: ResourcePlan, options: PaintOptions): readonly string[] {
  const { changes, unresolved } = resource;
  return [
    `  ${placeOf(resource)}`,
    ...changes.flatMap((change) => changeLines(change, '    ', options)),
    ...unresolved.map(
      ({ child, state, message, line }) =>
        `    ? child "${child}" (line ${line}) ${state === 'Waiting' ? 'waits' : 'fails'}: ${message}`,
    ),
  ];
}

function placeOf({
  kind,
  namespace,
  name,
  cluster,
}: Pick<PlannedChange, 'kind' | 'namespace' | 'name' | 'cluster'>): string {
  const place = cluster === undefined ? '' : ` in cluster "${cluster}"`;
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}${place}`;
}

function changeLines(change: PlannedChange, indent: string, options: PaintOptions): string[] {
  const { action, fields } = change;
  const head = `${indent}${marks[action]} ${placeOf(change)}`;
  const inner = `${indent}    `;
  const note = action === 'change' && fields.length === 0 ? ' (only metadata of Homeostat)' : '';
  return [
    paint(`${head}${note}`, colors[action], options),
    ...fields.flatMap((field) => fieldLines(field, inner, options)),
  ];
}

function fieldLines(field: FieldChange, indent: string, options: PaintOptions): string[] {
  const { path, before, after } = field;
  if (before === undefined) return marked('+', { path, value: after }, indent, options);
  if (after === undefined) return marked('-', { path, value: before }, indent, options);
  const [old, now] = differingLines(flat(before), flat(after));
  if (old.length === 1 && now.length === 1)
    return [
      paint(`${indent}~ ${path}: ${old[0]?.trim()} -> ${now[0]?.trim()}`, colors.change, options),
    ];
  return [
    paint(`${indent}~ ${path}:`, colors.change, options),
    ...old.map((line) => paint(`${indent}-   ${line}`, colors.delete, options)),
    ...now.map((line) => paint(`${indent}+   ${line}`, colors.create, options)),
  ];
}

interface MarkedField {
  readonly path: string;
  readonly value: unknown;
}

/** A field that is added or removed, every line with the mark. */
function marked(
  mark: '+' | '-',
  { path, value }: MarkedField,
  indent: string,
  options: PaintOptions,
): string[] {
  const lines = flat(value);
  const isShort = lines.length === 1 && (typeof value !== 'object' || value === null);
  const text = isShort
    ? [`${path}: ${lines[0]}`]
    : [`${path}:`, ...lines.map((line) => `  ${line}`)];
  const color = colors[mark === '+' ? 'create' : 'delete'];
  return text.map((line) => paint(`${indent}${mark} ${line}`, color, options));
}

/** The lines between the common beginning and the common end. */
function differingLines(
  before: readonly string[],
  after: readonly string[],
): readonly [readonly string[], readonly string[]] {
  if (before.length === 1 && after.length === 1) return [before, after];
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  return [before.slice(start, before.length - end), after.slice(start, after.length - end)];
}

function flat(value: unknown): readonly string[] {
  return value === undefined ? [] : printYaml(value).trimEnd().split('\n');
}

function paint(text: string, color: number, { hasColor }: PaintOptions): string {
  return hasColor ? `\u001b[${color}m${text}\u001b[39m` : text;
}

/** Comments of pull requests hold at most 65,536 characters. */
const maxMarkdown = 60_000;

/** The plans for a comment of a pull request: the summary, and each resource folded. Pure. */
export function markdownOf(plans: readonly DefinitionPlan[]): string {
  const parts: string[] = [`**Plan**: ${summaryLine(plans)}`, ''];
  let left = maxMarkdown - parts.join('\n').length;
  let omitted = 0;
  for (const part of plans.flatMap(markdownParts)) {
    if (part.length + 1 > left) {
      omitted += 1;
      continue;
    }
    parts.push(part);
    left -= part.length + 1;
  }
  if (omitted > 0) parts.push(`${omitted} more are not shown: run \`homeostat plan\`.`);
  return parts.join('\n').trimEnd();
}

function markdownParts(plan: DefinitionPlan): readonly string[] {
  const { definition, rejection, resources } = plan;
  const title = `### Definition \`${definition}\``;
  if (rejection !== undefined) return [title, `Rejected: ${rejection.message}`];
  const plain = { hasColor: false };
  const body = [
    ...notesOf(plan).map((note) => `> ${note.replace(/^! /, '')}\n`),
    ...crdsOf(plan).map((crd) => folded(placeOf(crd), changeLines(crd, '', plain))),
    ...resources
      .filter(({ changes, unresolved }) => changes.length > 0 || unresolved.length > 0)
      .map((resource) => folded(placeOf(resource), resourceLines(resource, plain).slice(1))),
  ];
  return body.length === 0 ? [title, 'No changes.\n'] : [title, ...body];
}

function folded(summary: string, lines: readonly string[]): string {
  const text = lines.map((line) => line.replace(/^ {4}/, '')).join('\n');
  return `<details><summary>${summary}</summary>\n\n\`\`\`diff\n${text}\n\`\`\`\n</details>\n`;
}
