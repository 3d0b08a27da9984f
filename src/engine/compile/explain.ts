import type { LocatedDefinition, OperatorDefinition } from '#definition';
import type { Gvk } from '#util/gvk.ts';
import {
  createDependencyFinder,
  type Dependencies,
  type DependencyFinder,
} from './analysis/dependencies.ts';
import { isListRead } from './analysis/list-names.ts';
import { orderChildren } from './analysis/order.ts';
import {
  type CompiledChild,
  type CompiledTemplates,
  compileDefinition,
  templatesOfRead,
} from './compiled-templates.ts';
import { createDiagnostics } from './diagnostics.ts';
import type { ReadPlan } from './operator-plan.ts';
import { createDefaultLeafParser } from './plain-expressions.ts';
import { createKindTypes, type SchemaSource } from './schema-source.ts';
import { type CompiledTemplate, type SlotReference, slotTemplate } from './template/template.ts';
import { targetTemplates } from './template-uses.ts';

/** What a part of a definition reads, also through vars: `spec.size`, `children.db.status`, sorted. */
interface Inputs {
  readonly inputs: readonly string[];
}

/** An expression, and what it reads, also through vars. */
export interface ExplainedExpression {
  /** Field of the manifest, or `when`, `forEach`, `ready`, `gate`, `deleteWhen`. */
  readonly field: string;
  /** As written. */
  readonly text: string;
  readonly line: number;
  readonly column: number;
  /** Sorted by their text. */
  readonly references: readonly ExplainedReference[];
}

export interface ExplainedReference {
  /** `spec.size`, `children.db.status`. */
  readonly text: string;
  readonly root: 'resource' | 'children' | 'observed' | 'reads';
  /** Below the root; for children and reads it begins with the id. */
  readonly path: readonly string[];
}

export interface ExplainedChild extends Inputs {
  readonly id: string;
  readonly gvk: Gvk;
  /** The name as written. */
  readonly name: string | undefined;
  /** `onDelete`: created only while the resource is being deleted. */
  readonly stage: CompiledChild['stage'];
  /** Children of a tier are created after those of all earlier tiers that they wait for; from 1 on. */
  readonly tier: number;
  /** Ids of children that it waits for: those that it reads, and those of `after`. */
  readonly waitsFor: readonly string[];
  /** `when` as written. @default undefined: always wanted */
  readonly when: string | undefined;
  /** `forEach` as written. @default undefined: one object */
  readonly forEach: string | undefined;
  /** `cluster` as written. @default undefined: in the cluster of the resource */
  readonly cluster: string | undefined;
  /** In the order in which they are written: `when` and `forEach` first. */
  readonly expressions: readonly ExplainedExpression[];
}

interface ExplainedRead extends Inputs {
  readonly id: string;
  readonly gvk: Gvk;
  readonly by: ReadPlan['by'];
  readonly optional: boolean;
  /** `cluster` as written. @default undefined: in the cluster of the resource */
  readonly cluster: string | undefined;
}

/** A status field, a condition, an Event or a patch. */
interface ExplainedReport extends Inputs {
  readonly name: string;
}

/** What a definition does: its objects, their order, and what each depends on. */
export interface Explanation {
  readonly name: string;
  readonly gvk: Gvk;
  readonly reads: readonly ExplainedRead[];
  /** By tier, those of `onDelete` last. */
  readonly children: readonly ExplainedChild[];
  readonly reports: readonly ExplainedReport[];
}

/** Explains a definition that compiles without errors. */
export function explainDefinition(located: LocatedDefinition, schemas?: SchemaSource): Explanation {
  const { definition, source } = located;
  const diagnostics = createDiagnostics(source);
  const types = createKindTypes(definition, schemas);
  const parser = createDefaultLeafParser();
  const parts = compileDefinition({ located, types, parser, diagnostics, coverage: undefined });
  const finder = createDependencyFinder(parts);
  const tiers = orderChildren(parts, diagnostics);
  const children = parts.children.map((child): ExplainedChild => {
    const { id, gvk, after } = child.definition;
    const { template, when, forEach, cluster, kind, ready, gate, deleteWhen } = child;
    const uses = finder.of(template, when, forEach, cluster, kind, gate);
    return {
      id,
      gvk,
      name: textOf(child.name),
      stage: child.stage,
      tier: tiers.findIndex((tier) => tier.includes(id)) + 1,
      waitsFor: [...new Set([...after, ...uses.children])].sort(),
      when: textOf(when),
      forEach: textOf(forEach),
      cluster: textOf(cluster),
      expressions: [when, forEach, cluster, kind, template, ready, gate, deleteWhen].flatMap(
        (each) => expressionsOf(each, finder),
      ),
      ...inputsOf(finder.of(template, when, forEach, cluster, kind, ready, gate, deleteWhen)),
    };
  });
  return {
    name: definition.name,
    gvk: definition.kind.gvk,
    reads: parts.reads.map((read) => {
      const { id, gvk, by, optional } = read.definition;
      return {
        id,
        gvk,
        by: by.kind === 'name' && read.isList ? 'names' : by.kind,
        optional,
        cluster: textOf(read.cluster),
        ...inputsOf(finder.of(...templatesOfRead(read))),
      };
    }),
    children: children.toSorted((a, b) => rankOf(a) - rankOf(b)),
    reports: reportsOf(parts, (...templates) => inputsOf(finder.of(...templates))),
  };
}

/** The ids of the reads whose value is a list: by a selector, or by a list of names. */
export function listReadIds(
  definition: OperatorDefinition,
  schemas?: SchemaSource,
): ReadonlySet<string> {
  const types = createKindTypes(definition, schemas);
  const context = { definition, types, parser: createDefaultLeafParser() };
  const lists = definition.reads.filter((read) => isListRead(read, context));
  return new Set(lists.map(({ id }) => id));
}

function rankOf({ stage, tier }: ExplainedChild): number {
  return stage === 'always' ? tier : 1_000_000 + tier;
}

function reportsOf(
  { status, reporting }: CompiledTemplates,
  inputs: (...templates: readonly (CompiledTemplate | undefined)[]) => Inputs,
): readonly ExplainedReport[] {
  const { conditions, events, patches, requeueAfter, cron } = reporting;
  return [
    ...[...status].map(([name, template]) => ({ name: `status.${name}`, ...inputs(template) })),
    ...conditions.map(({ definition, status: value, reason, message }) => ({
      name: `condition ${definition.type}`,
      ...inputs(value, reason, message),
    })),
    ...events.map(({ when, reason, message }) => ({
      name: `event ${textOf(reason) ?? ''}`,
      ...inputs(when, reason, message),
    })),
    ...patches.map((each) => ({
      name: `patch ${each.definition.id}`,
      ...inputs(each.when, each.forEach, each.once, ...targetTemplates(each), each.patch),
    })),
    ...(requeueAfter === undefined ? [] : [{ name: 'requeueAfter', ...inputs(requeueAfter) }]),
    ...(cron === undefined ? [] : [{ name: 'schedule.cron', ...inputs(cron) }]),
  ];
}

function expressionsOf(
  template: CompiledTemplate | undefined,
  finder: DependencyFinder,
): readonly ExplainedExpression[] {
  const expressions = (template?.slots ?? []).map((slot): ExplainedExpression => {
    const { field, line, column } = slot.place;
    const references = new Map(
      finder
        .of(slotTemplate(slot))
        .references.flatMap(referenceOf)
        .map((reference) => [reference.text, reference]),
    );
    const sorted = [...references.values()].sort((a, b) => (a.text < b.text ? -1 : 1));
    return { field, text: slot.text.trim(), line, column, references: sorted };
  });
  return expressions.sort((a, b) => a.line - b.line || a.column - b.column);
}

/** Vars are left out: what they read counts. */
function referenceOf({ reference }: SlotReference): readonly ExplainedReference[] {
  const { root, path } = reference;
  switch (root) {
    case 'resource':
      return [{ text: path.length === 0 ? 'the whole resource' : path.join('.'), root, path }];
    case 'children':
    case 'observed':
    case 'reads':
      return [{ text: [root, ...path].join('.'), root, path }];
    default:
      return [];
  }
}

function inputsOf({ references }: Dependencies): Inputs {
  const texts = references.flatMap((each) =>
    each.reference.root === 'now' ? ['the time'] : referenceOf(each).map(({ text }) => text),
  );
  return { inputs: [...new Set(texts)].sort() };
}

/** A template that is one text: as written. */
function textOf(template: CompiledTemplate | undefined): string | undefined {
  if (template === undefined) return undefined;
  const { root, slots } = template;
  if (root.kind === 'constant') return String(root.value);
  return root.kind === 'slot' ? slots[root.slot]?.text.trim() : undefined;
}
