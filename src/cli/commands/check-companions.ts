import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { CheckedDefinition, DefinitionManifest, ManifestCheck } from '#check';
import {
  createOperatorTestParser,
  type Diagnostic,
  type LocatedObject,
  parseOperatorFuzz,
  readObjects,
} from '#definition';
import { sampleNames } from '#dev';
import { renderResource } from '#render';
import { checkObjects, TestChecker } from '#testing';
import { gvkKey, gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { filesWith, loadTestFiles, readText } from './test-files.ts';

export interface CompanionsOptions {
  /** Folders with samples or tests, as the user wrote them. */
  readonly folders: readonly string[];
  readonly manifests: readonly DefinitionManifest[];
  readonly accepted: readonly CheckedDefinition[];
  readonly check: ManifestCheck;
}

/** Files beside definitions that were checked. */
export interface Companions {
  readonly diagnostics: readonly Diagnostic[];
  readonly files: readonly DefinitionManifest[];
}

/**
 * Checks the samples and tests beside the definitions of folders: `samples/` is validated against the kinds and rendered, `tests/` is
 * checked without running.
 */
export async function checkCompanions(options: CompanionsOptions): Promise<Companions> {
  const checker = new TestChecker({ check: options.check, load: loadTestFiles });
  try {
    const found: Companions[] = [];
    for (const path of options.folders) {
      found.push(await checkSamples(join(path, 'samples'), options, checker));
      found.push(await checkTests(join(path, 'tests'), checker));
    }
    return {
      diagnostics: found.flatMap(({ diagnostics }) => diagnostics),
      files: found.flatMap(({ files }) => files),
    };
  } finally {
    checker.close();
  }
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
}

async function checkSamples(
  folder: string,
  options: CompanionsOptions,
  checker: TestChecker,
): Promise<Companions> {
  const names = await sampleNames(folder);
  const paths = names.map((name) => join(folder, name));
  const files = await Promise.all(
    paths.map(async (file) => ({ file, text: await readText(file) })),
  );
  const read = files.map(({ file, text }) => readObjects(text, file));
  const objects = read.flatMap((each) => each.objects);
  const diagnostics = read.flatMap((each) => each.diagnostics);
  if (objects.length === 0) return { diagnostics, files };
  const wrong = checkObjects(objects, checker.objectCheck(options.manifests));
  const rendered = await renderSamples(objects, wrong, options);
  return { diagnostics: [...diagnostics, ...wrong, ...rendered], files };
}

/** Renders the samples without an error. The others, and objects of other kinds, exist before. */
async function renderSamples(
  objects: readonly LocatedObject[],
  wrong: readonly Diagnostic[],
  { manifests, accepted, check }: CompanionsOptions,
): Promise<readonly Diagnostic[]> {
  const diagnostics: Diagnostic[] = [];
  const definitionOf = ({ object }: LocatedObject) =>
    accepted.find(({ plan }) => gvkKey(plan.definition.kind.gvk) === keyOf(object));
  const right = objects.filter(({ source }) => !wrong.some(({ file }) => file === source.file));
  const given = right.filter((each) => definitionOf(each) === undefined);
  for (const sample of right) {
    const served = definitionOf(sample);
    if (served === undefined) continue;
    const files = neededFiles(served, accepted);
    const { failures } = await renderResource({
      definitions: manifests.filter((manifest) => files.has(manifest.file)),
      resource: sample.object,
      given: given.map(({ object }) => object),
      simulatesControllers: true,
      check,
    });
    const title = `sample "${sample.object.metadata.name}" of "${sample.source.file}"`;
    for (const failure of failures)
      diagnostics.push({ ...failure, message: `${failure.message} (${title})` });
  }
  return diagnostics;
}

function keyOf({ apiVersion, kind }: KubeObject): string {
  return gvkKey(gvkOf(apiVersion, kind));
}

/** The files of a definition, and of those whose resources it creates, directly or not. */
function neededFiles(
  first: CheckedDefinition,
  accepted: readonly CheckedDefinition[],
): ReadonlySet<string> {
  const needed = new Set([first]);
  for (const { plan } of needed) {
    const kinds = new Set(plan.definition.children.map(({ gvk }) => gvkKey(gvk)));
    for (const each of accepted)
      if (kinds.has(gvkKey(each.plan.definition.kind.gvk))) needed.add(each);
  }
  return new Set([...needed].map(({ located }) => located.source.file));
}

/** The documents of kind `OperatorTest` and `OperatorFuzz` below a folder, which need not exist. */
async function checkTests(folder: string, checker: TestChecker): Promise<Companions> {
  if (!(await isFolder(folder))) return { diagnostics: [], files: [] };
  const parser = createOperatorTestParser();
  const files = [...(await filesWith(['Operator'], folder))];
  const diagnostics: Diagnostic[] = [];
  for (const { file, text } of [...files]) {
    const parsed = parser.parse(text, file);
    diagnostics.push(...parsed.diagnostics, ...parseOperatorFuzz(text, file).diagnostics);
    for (const test of parsed.tests) {
      const checked = await checker.checkTest(test);
      diagnostics.push(...checked.diagnostics);
      files.push(...checked.sources);
    }
  }
  return { diagnostics, files };
}
