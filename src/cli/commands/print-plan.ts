import { diagnosticText } from '#check';
import { printYaml } from '#definition';
import type {
  DefinitionPlan,
  FieldChange,
  HeldDeletions,
  PlannedAction,
  PlannedChange,
  ResourcePlan,
} from '#plan';
import { printable } from '#util/printable-text.ts';

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
  /** Children that fail: the API server rejects them, or they cannot be rendered. */
  readonly failed: number;
}

interface PaintOptions {
  readonly hasColor: boolean;
}

const marks: Readonly<Record<PlannedAction, '+' | '~' | '-' | '±'>> = {
  create: '+',
  change: '~',
  delete: '-',
  replace: '±',
};
const colors = { '+': 32, '~': 33, '-': 31, '±': 35 } as const;

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
    failed: resources
      .flatMap(({ unresolved }) => unresolved)
      .filter(({ state }) => state === 'Failed').length,
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

/** `12 resources: 3 created, 9 changed, 0 deleted, 1 replaced; 2 unchanged; 1 failed`, with the objects that change. */
function summaryLine(plans: readonly DefinitionPlan[]): string {
  const { resources, unchanged, created, changed, deleted, replaced, failed } = summaryOf(plans);
  const total = resources === 1 ? '1 resource' : `${resources} resources`;
  const line = `${total}: ${created} created, ${changed} changed, ${deleted} deleted, ${replaced} replaced; ${unchanged} unchanged`;
  return failed === 0 ? line : `${line}; ${failed} failed`;
}

function definitionLines(plan: DefinitionPlan, options: PaintOptions): readonly string[] {
  const { definition, revision, rejection, resources } = plan;
  const crds = crdsOf(plan);
  const title = `Definition "${definition}" (revision ${revision})`;
  if (rejection !== undefined) return [`${title}: rejected: ${printable(rejection.message)}`, ''];
  const shown = resources.filter(isShown);
  const notes = notesOf(plan);
  if (crds.length === 0 && shown.length === 0 && notes.length === 0)
    return [`${title}: no changes`, ''];
  const printed = (lines: readonly Line[], indent: string) =>
    lines.map((line) => `${indent}${terminalLine(line, options)}`);
  return [
    title,
    ...notes.map((note) => `  ! ${printable(note)}`),
    ...printed(crds.flatMap(changeLines), '  '),
    ...shown.flatMap((resource) => [
      `  ${printable(placeOf(resource))}`,
      ...printed(resourceLines(resource), '    '),
    ]),
    '',
  ];
}

function isShown({ changes, unresolved }: ResourcePlan): boolean {
  return changes.length > 0 || unresolved.length > 0;
}

/** A line of a plan. */
interface Line {
  readonly mark: '+' | '-' | '~' | '±' | '?';
  /** Spaces before it. */
  readonly indent: number;
  readonly text: string;
  /** A field that changes from one short value to another. `text` names it. */
  readonly values?: readonly [before: string, after: string];
}

function terminalLine({ mark, indent, text, values }: Line, { hasColor }: PaintOptions): string {
  const change = values === undefined ? '' : ` ${values.join(' -> ')}`;
  const line = printable(`${' '.repeat(indent)}${mark} ${text}${change}`);
  return hasColor && mark !== '?' ? `\u001b[${colors[mark]}m${line}\u001b[39m` : line;
}

function notesOf(plan: DefinitionPlan): readonly string[] {
  return [
    ...deletionNotes(plan),
    ...ruleNotes(plan),
    ...plan.problems.map((problem) => `The plan may be incomplete: ${problem}`),
  ];
}

function deletionNotes({ heldDeletions, resources }: DefinitionPlan): readonly string[] {
  if (heldDeletions !== undefined) return [heldText(heldDeletions)];
  const lost = resources
    .flatMap(({ changes }) => changes)
    .filter(({ losesData }) => losesData === true).length;
  return lost === 0
    ? []
    : [
        `${objectsText(lost)} with data would be deleted without approval, because the definition does not change`,
      ];
}

function ruleNotes({ brokenRules }: DefinitionPlan): readonly string[] {
  if (brokenRules === undefined) return [];
  const { count, objects, unchecked = [] } = brokenRules;
  const verb = count === 1 ? 'breaks' : 'break';
  const more = count - objects.length;
  return [
    ...(count === 0
      ? []
      : [
          `${objectsText(count)} ${verb} new rules of "admission", and can be changed only with a correction:`,
        ]),
    ...objects.map((each) => `  ${placeOf(each)}: ${each.message}`),
    ...(more > 0 ? [`  and ${objectsText(more)} more`] : []),
    ...unchecked.map((message) => `Not checked, because only a request decides: rule "${message}"`),
  ];
}

/** Which deletions need approval, and why. */
export function heldText({ count, maxDeletions, withData = 0 }: HeldDeletions): string {
  const limit =
    count > maxDeletions ? `, more than controller.rollout.maxDeletions (${maxDeletions})` : '';
  const data = withData === 0 ? '' : `, ${withData} of them with data`;
  return `${objectsText(count)} would be deleted${limit}${data}: none is deleted until you approve it`;
}

function objectsText(count: number): string {
  return count === 1 ? '1 object' : `${count} objects`;
}

function resourceLines({ changes, unresolved }: ResourcePlan): readonly Line[] {
  return [
    ...changes.flatMap(changeLines),
    ...unresolved.map(({ child, state, message, line }): Line => {
      const text = `child "${child}" (line ${line}) ${state === 'Waiting' ? 'waits' : 'fails'}: ${message}`;
      return { mark: '?', indent: 0, text };
    }),
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

function changeLines(change: PlannedChange): readonly Line[] {
  const { action, fields, losesData = false, isLater = false } = change;
  const isInternal = action === 'change' && fields.length === 0;
  const notes = [
    ...(isInternal ? ['only metadata of Homeostat'] : []),
    ...(losesData ? ['holds data'] : []),
    ...(isLater ? ['when all children are ready'] : []),
  ];
  const note = notes.length === 0 ? '' : ` (${notes.join(', ')})`;
  return [
    { mark: marks[action], indent: 0, text: `${placeOf(change)}${note}` },
    ...fields.flatMap(fieldLines),
  ];
}

/** Spaces before the fields of an object. */
const indent = 4;

function fieldLines({ path, before, after }: FieldChange): readonly Line[] {
  if (before === undefined) return marked('+', path, after);
  if (after === undefined) return marked('-', path, before);
  const [old, now] = differingLines(flat(before), flat(after));
  const text = `${path}:`;
  if (old.length === 1 && now.length === 1)
    return [{ mark: '~', indent, text, values: [old[0]?.trim() ?? '', now[0]?.trim() ?? ''] }];
  return [
    { mark: '~', indent, text },
    ...old.map((line): Line => ({ mark: '-', indent, text: `  ${line}` })),
    ...now.map((line): Line => ({ mark: '+', indent, text: `  ${line}` })),
  ];
}

/** A field that is added or removed, every line with the mark. */
function marked(mark: '+' | '-', path: string, value: unknown): readonly Line[] {
  const lines = flat(value);
  const isShort = lines.length === 1 && (typeof value !== 'object' || value === null);
  const texts = isShort
    ? [`${path}: ${lines[0]}`]
    : [`${path}:`, ...lines.map((line) => `  ${line}`)];
  return texts.map((text) => ({ mark, indent, text }));
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
  if (rejection !== undefined) {
    const reasons = rejection.diagnostics.map((each) => `- ${diagnosticText(each)}`);
    return [title, [`Rejected: ${rejection.message}`, '', ...reasons, ''].join('\n')];
  }
  const body = [
    ...notesOf(plan).map((note) => `> ${note}\n`),
    ...crdsOf(plan).map((crd) => folded(placeOf(crd), changeLines(crd))),
    ...resources
      .filter(isShown)
      .map((resource) => folded(placeOf(resource), resourceLines(resource))),
  ];
  return body.length === 0 ? [title, 'No changes.\n'] : [title, ...body];
}

function folded(summary: string, lines: readonly Line[]): string {
  const text = lines.flatMap(diffLines).join('\n');
  const longest = (text.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
  const fence = '`'.repeat(longest + 1);
  return `<details><summary>${summary}</summary>\n\n${fence}diff\n${text}\n${fence}\n</details>\n`;
}

/** A line in the colors of a diff, which are those of its first character: `+` green, `-` red, `!` orange. */
function diffLines({ mark, indent: spaces, text, values }: Line): readonly string[] {
  const line = `${' '.repeat(spaces)}${text}`;
  if (values !== undefined) return [`- ${line} ${values[0]}`, `+ ${line} ${values[1]}`];
  if (mark === '+' || mark === '-') return [`${mark} ${line}`];
  if (mark === '~' && spaces > 0) return [`  ${line}`];
  return [`! ${line}${mark === '±' ? ' (deleted and created again)' : ''}`];
}
