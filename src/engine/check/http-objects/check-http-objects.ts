import type { LeafParser } from '#compile';
import {
  type Finding,
  isPlaced,
  type LocatedDefinition,
  runsInMembers,
  type Template,
} from '#definition';
import {
  httpKindCheckOf,
  patchProblems,
  type SpecProblem,
  templateProblems,
} from '#http-objects/spec/index.ts';
import { apiVersionOf, type Gvk } from '#util/gvk.ts';
import { isJsonObject, type JsonObject, pointerTo } from '#util/json.ts';

/**
 * What is wrong with the `HttpObject` and `HttpEndpoint` children, reads and patches of a definition. The runtime checks it, too: code that
 * authors of resources could change must not run. Pure.
 */
export function httpFindings(
  { definition, pointers }: LocatedDefinition,
  parser: LeafParser,
): readonly Finding[] {
  const { children, reads, install, onDelete, reporting } = definition;
  const inMembers = runsInMembers(definition);
  const created = [
    ...children.map((child, index) => ({ child, pointer: pointers.children[index] ?? '' })),
    ...(install ?? []).map((child, index) => ({
      child,
      pointer: pointers.install?.[index] ?? '',
    })),
    ...(onDelete?.children ?? []).map((child, index) => ({
      child,
      pointer: pointers.onDelete[index] ?? '',
    })),
  ];
  const templates = created.filter(({ child }) => isHttpKind(child.gvk));
  const read = reads
    .map((each, index) => ({ read: each, pointer: pointers.reads[index] ?? '' }))
    .filter((each) => isHttpKind(each.read.gvk));
  return [
    ...templates.flatMap(({ child, pointer }) => [
      ...(inMembers || isPlaced(child) ? [hubOnly(child.gvk, pointerTo(pointer, 'template'))] : []),
      ...located(templateProblems(asMap(child.template), parser), pointerTo(pointer, 'template')),
    ]),
    ...read.flatMap((each) =>
      inMembers || isPlaced(each.read) ? [hubOnly(each.read.gvk, each.pointer)] : [],
    ),
    ...(reporting?.patches ?? []).flatMap(({ target, patch }, index) =>
      located(
        patchFindings(target?.gvk ?? definition.kind.gvk, patch, parser),
        patchPointer(index),
      ),
    ),
  ];
}

/** A finding for a problem of an object, at a pointer of its document. Pure. */
export function findingOf(problem: SpecProblem, pointer: string): Finding {
  const { severity, code = 'invalid-value', path, message, hint, offset } = problem;
  const at = code === 'unknown-field' || code === 'missing-field' ? 'key' : offset;
  return {
    ...{ severity, code, message, hint, path: `${pointer}${path}` },
    ...(at !== undefined && { at }),
  };
}

function located(problems: readonly SpecProblem[], pointer: string): readonly Finding[] {
  return problems.map((problem) => findingOf(problem, pointer));
}

function patchFindings(gvk: Gvk, patch: Template, parser: LeafParser): readonly SpecProblem[] {
  if (!isHttpKind(gvk)) return [];
  return patchProblems(asMap(patch), headOf(gvk), parser);
}

function patchPointer(index: number): string {
  return `/spec/patches/${index}/patch`;
}

function isHttpKind(gvk: Gvk): boolean {
  return httpKindCheckOf(headOf(gvk)) !== undefined;
}

function headOf(gvk: Gvk): { readonly apiVersion: string; readonly kind: string } {
  return { apiVersion: apiVersionOf(gvk), kind: gvk.kind };
}

function hubOnly({ kind }: Gvk, path: string): Finding {
  return {
    code: 'invalid-value',
    path: pointerTo(path, 'kind'),
    message: `The kind ${kind} is not served in member clusters`,
    hint: 'Create it on the hub: remove "cluster" or "controller.clusters"',
  };
}

function asMap(template: Template): JsonObject {
  return isJsonObject(template) ? template : {};
}
