import { dirname } from 'node:path';
import { checkDefinitions, type DefinitionManifest } from '#check';
import { bundledSchemas } from '#compile';
import { type Diagnostic, type LocatedObject, printYaml } from '#definition';
import { type RenderedChild, type RenderResult, renderResource } from '#render';
import { checkObjectsOf } from '#testing';
import { createSystemClock } from '#util/clock.ts';
import { CliError, exitCode } from '../exit-code.ts';
import { loadManifests } from '../load-manifests.ts';
import type { Output } from '../output.ts';
import { printDiagnostics } from '../print-diagnostics.ts';
import { readLocatedFiles } from './read-files.ts';
import { resourceInFile } from './resource-in-file.ts';
import { printedBy, watchFiles } from './watch-files.ts';

export interface RenderFlags {
  /** Files with objects that exist before. */
  readonly with?: readonly string[];
  /** Whether to print the status. */
  readonly status?: boolean;
  readonly output: 'yaml' | 'json';
  /** Whether simulated controllers make children ready. */
  readonly simulate: boolean;
  /** Renders again when a file changes, until the signal aborts. @default false */
  readonly watch?: boolean;
}

/**
 * `homeostat render DEFINITION RESOURCE`: prints the objects that a definition creates for a resource, in the order of their creation.
 * Runs the definition on a simulated cluster.
 * @returns the exit code: 1 when a definition has errors or not everything can be rendered.
 * @throws CliError for files that cannot be read.
 */
export async function render(
  definition: string,
  resourceFile: string,
  flags: RenderFlags,
  output: Output,
  signal: AbortSignal = new AbortController().signal,
): Promise<number> {
  if (flags.watch !== true) return renderOnce(definition, resourceFile, flags, output);
  const paths = [definition, resourceFile, ...(flags.with ?? [])];
  if (paths.includes('-')) throw new CliError('"--watch" needs files, and standard input is none');
  let before: string | undefined;
  const run = async () => {
    const text = await printedBy(output, (collecting) =>
      renderOnce(definition, resourceFile, flags, collecting),
    );
    if (text !== before) output.print(before === undefined ? text : `# changed\n${text}`);
    before = text;
    return paths.flatMap((path) => [path, dirname(path)]);
  };
  await watchFiles({ clock: createSystemClock(), output, run }, signal);
  return exitCode.ok;
}

async function renderOnce(
  definition: string,
  resourceFile: string,
  flags: RenderFlags,
  output: Output,
): Promise<number> {
  const texts = await loadManifests([definition]);
  const { objects, manifests } = await readLocatedFiles([resourceFile], output);
  const { resource, others } = resourceInFile(objects, texts, resourceFile);
  const given = flags.with === undefined ? undefined : await readLocatedFiles(flags.with, output);
  const existing = [...others, ...(given?.objects ?? [])];
  const result = await renderResource({
    definitions: texts,
    resource: resource.object,
    given: existing.map(({ object }) => object),
    simulatesControllers: flags.simulate,
  });
  const mistakes = [
    ...result.diagnostics,
    ...(result.isRejected === true ? mistakesIn([resource, ...existing], texts) : []),
  ];
  printDiagnostics(mistakes, [...texts, ...manifests, ...(given?.manifests ?? [])], output);
  if (mistakes.some(({ severity }) => severity === 'error')) return exitCode.failure;
  printDiagnostics(result.failures, texts, output);
  if (flags.output === 'json') output.print(jsonOf(result));
  else for (const line of yamlLines(result, flags, definition)) output.print(line);
  const isWaiting = !flags.simulate && result.children.length > 0;
  return result.problem === undefined || isWaiting ? exitCode.ok : exitCode.failure;
}

/** Where objects have the mistakes for which the server rejects them. */
function mistakesIn(
  objects: readonly LocatedObject[],
  definitions: readonly DefinitionManifest[],
): readonly Diagnostic[] {
  const { accepted } = checkDefinitions(definitions, { schemas: bundledSchemas() });
  return checkObjectsOf(
    accepted.map(({ located }) => located),
    objects,
  );
}

function jsonOf({ children, missing, status, problem }: RenderResult): string {
  const rendered = children.map(({ child, waitsFor, cluster, manifest }) => ({
    child,
    waitsFor,
    ...(cluster !== undefined && { cluster }),
    manifest,
  }));
  const value = { children: rendered, missing, status, ...(problem !== undefined && { problem }) };
  return JSON.stringify(value, undefined, 2);
}

function* yamlLines(
  { children, missing, status, problem, lacksMembers = false }: RenderResult,
  flags: RenderFlags,
  file: string,
): Generator<string> {
  for (const [index, child] of children.entries()) {
    if (index > 0) yield '---';
    yield commentOf(child);
    yield printYaml(child.manifest).trimEnd();
  }
  for (const id of missing) yield `# child "${id}": nothing is created`;
  if (lacksMembers) yield '# There is no member cluster: give Cluster objects with --with FILE';
  if (problem !== undefined) yield `# ${file}: ${problem}`;
  if (flags.status === true && status !== undefined) {
    yield '---';
    yield '# status of the resource';
    yield printYaml({ status }).trimEnd();
  }
}

/** `# child "service" (2 of 3) in cluster "dev-1", after "config"; ready when it is a ready Service`. */
function commentOf({
  child,
  position,
  total,
  cluster,
  waitsFor,
  readiness,
}: RenderedChild): string {
  const place = cluster === undefined ? '' : ` in cluster "${cluster}"`;
  const after =
    waitsFor.length === 0 ? '' : `, after ${waitsFor.map((id) => `"${id}"`).join(', ')}`;
  return `# child "${child}" (${position} of ${total})${place}${after}; ready when ${readiness}`;
}
