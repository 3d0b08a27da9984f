import { checkDefinitions, type DefinitionManifest } from '#check';
import { bundledSchemas } from '#compile';
import type { LocatedObject } from '#definition';
import { type Conversion, clusterFor, type Overlap, renderSideBySide } from '#import';
import type { JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { exitCode } from '../exit-code.ts';
import type { Output } from '../output.ts';
import { printDiagnostics } from '../print-diagnostics.ts';
import { renderedDifferences } from './rendered-differences.ts';

interface ConversionCheck {
  readonly conversion: Conversion;
  /** The definition as it was written. */
  readonly manifest: DefinitionManifest;
  /** The manifests that were converted. */
  readonly located: readonly LocatedObject[];
  readonly output: Output;
}

/**
 * Prints what a user must know or do, and proves a converted definition on simulated clusters: a resource has the objects of the manifests,
 * and two resources share nothing.
 */
export async function checkConversion(check: ConversionCheck): Promise<number> {
  const { conversion, manifest, located, output } = check;
  const { sample, objects, namespace } = conversion;
  printNotes(conversion.notes, located, output);
  const { diagnostics } = checkDefinitions([manifest], { schemas: bundledSchemas() });
  printDiagnostics(diagnostics, [manifest], output);
  if (diagnostics.some(({ severity }) => severity === 'error')) return exitCode.failure;
  const own = namespace ?? 'default';
  const { given, unchecked, unserved } = clusterFor(objects, conversion.prerequisites, [own]);
  const known = objects.filter((object) => !unserved.includes(object));
  printUnchecked(unchecked, unserved, output);
  printClusterNames(conversion, output);
  const resource = placed(sample, own);
  const { alone, overlaps, problem } = await renderSideBySide({
    definition: manifest,
    resources: [resource, secondOf(resource)],
    given,
  });
  const differences = renderedDifferences(known, alone.children, own);
  const failures = unserved.length > 0 ? [] : alone.failures;
  if (differences.length > 0) {
    output.error('homeostat: The definition does not create the same objects as the manifests');
    for (const each of differences) output.error(`  ${each}`);
    if (alone.problem !== undefined) output.error(`  ${alone.problem}`);
  }
  if (failures.length > 0) {
    output.error('homeostat: A server does not accept all objects of the definition');
    printDiagnostics(failures, [manifest], output);
  }
  const isDisjoint = printShared(check, overlaps, problem);
  if (differences.length > 0 || failures.length > 0 || !isDisjoint) return exitCode.failure;
  output.print(`The definition creates the same ${known.length} objects as the manifests`);
  output.print('Two resources side by side share no name and no selector');
  return exitCode.ok;
}

/** Prints what two resources share. Returns whether they can exist side by side. */
function printShared(
  { conversion, located, output }: ConversionCheck,
  overlaps: readonly Overlap[],
  problem: string | undefined,
): boolean {
  const textOf = ({ child, pointer, message }: Overlap) => {
    const object = sourceOf(conversion, child);
    return placeOf(located, object && { object, pointer }) + message;
  };
  const minor = overlaps.filter(({ isMinor }) => isMinor);
  const serious = overlaps.filter(({ isMinor }) => !isMinor);
  printOverlaps(
    minor,
    (each) => output.print(`Note: ${textOf(each)}`),
    (hint) => output.print(`  ${hint}`),
  );
  if (serious.length > 0)
    output.error('homeostat: Two resources of the definition cannot exist side by side');
  printOverlaps(
    serious,
    (each) => output.error(`  ${textOf(each)}`),
    (hint) => output.error(`    ${hint}`),
  );
  if (problem !== undefined) {
    output.error('homeostat: Beside a second resource, a resource does not become ready');
    output.error(`  ${problem}`);
  }
  return serious.length === 0 && problem === undefined;
}

/** Notes with the same text once, with all of their places. */
function printNotes(
  notes: Conversion['notes'],
  located: readonly LocatedObject[],
  output: Output,
): void {
  const places = new Map<string, Set<string>>();
  const hints = new Map<string, string | undefined>();
  for (const { message, hint, at } of notes) {
    const found = places.get(message) ?? new Set();
    found.add(placeOf(located, at));
    places.set(message, found);
    hints.set(message, hint);
  }
  for (const [message, found] of places) {
    const [first = '', ...more] = found;
    output.print(`Note: ${first}${message}`);
    if (more.length > 0)
      output.print(`  also ${more.map((each) => each.replace(/: $/, '')).join(', ')}`);
    const hint = hints.get(message);
    if (hint !== undefined) output.print(`  ${hint}`);
  }
}

/** Each hint once, after the last of several that have it. */
function printOverlaps(
  overlaps: readonly Overlap[],
  print: (overlap: Overlap) => void,
  printHint: (hint: string) => void,
): void {
  overlaps.forEach((each, index) => {
    print(each);
    if (overlaps[index + 1]?.hint !== each.hint) printHint(each.hint);
  });
}

function printUnchecked(
  unchecked: readonly KubeObject[],
  unserved: readonly KubeObject[],
  output: Output,
): void {
  const ofKind = ({ kind, apiVersion }: KubeObject) => `${kind} of ${apiVersion}`;
  const lines = [
    ...unchecked.map(
      (each) =>
        `The simulated cluster has no schema of ${ofKind(each)}; its fields are not checked`,
    ),
    ...unserved.map(
      (each) => `The simulated cluster does not serve ${ofKind(each)}; it is not checked`,
    ),
  ];
  for (const each of new Set(lines)) output.print(`Note: ${each}`);
}

/** Objects outside of the namespace of their resource, whose name does not contain it. */
function printClusterNames({ definition }: Conversion, output: Output): void {
  const { children } = definition.spec as {
    readonly children: readonly {
      readonly crossNamespace?: unknown;
      readonly template: KubeObject;
    }[];
  };
  const kinds = children
    .filter(({ crossNamespace }) => crossNamespace !== undefined)
    .filter(({ template }) => !template.metadata.name.includes('metadata.namespace'))
    .map(({ template }) => template.kind);
  if (kinds.length === 0) return;
  output.print(
    `Note: Resources with the same name in two namespaces would share these objects, and the second one reports a conflict: ${[...new Set(kinds)].join(', ')}`,
  );
  output.print('  Put "${ metadata.namespace }" into their names if such resources shall exist');
}

/** The manifest of a child, as it was given. */
function sourceOf({ definition, sources }: Conversion, child: string): KubeObject | undefined {
  const { children } = definition.spec as { readonly children: readonly JsonObject[] };
  return sources[children.findIndex(({ id }) => id === child)];
}

function placeOf(
  located: readonly LocatedObject[],
  at: { readonly object: KubeObject; readonly pointer: string } | undefined,
): string {
  const found = located.find(({ object }) => object === at?.object);
  if (found === undefined || at === undefined) return '';
  const { line, column } = found.source.keyAt(`${found.pointer}${at.pointer}`);
  return `${found.source.file}:${line}:${column}: `;
}

function placed(sample: KubeObject, namespace: string): KubeObject {
  return { ...sample, metadata: { ...sample.metadata, namespace } };
}

/** A resource with another name, and without the values that only one resource should have. */
function secondOf(sample: KubeObject): KubeObject {
  const name = sample.metadata.name === 'second' ? 'other' : 'second';
  return { ...sample, metadata: { ...sample.metadata, name }, spec: {} } as KubeObject;
}
