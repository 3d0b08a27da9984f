import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import type { DefinitionManifest } from '#check';
import { type Diagnostic, locate, type OperatorTest, testParts } from '#definition';
import { insideOf } from '#files';
import { didYouMean } from '#util/did-you-mean.ts';
import { messageOf } from '#util/homeostat-error.ts';

/** Reads a file, or the YAML and JSON files directly in a folder. @throws Error for a path that cannot be read */
export type LoadFiles = (path: string) => Promise<readonly DefinitionManifest[]>;

/** The definitions of a step. */
export interface PhaseFiles {
  /** Index of the step. */
  readonly step: number;
  readonly definitions: readonly DefinitionManifest[];
}

/** The files that a test uses. */
export interface TestSources {
  /** The definitions that it begins with. */
  readonly definitions: readonly DefinitionManifest[];
  /** The definitions of steps. */
  readonly later: readonly PhaseFiles[];
  /** Files with objects. */
  readonly applied: readonly DefinitionManifest[];
  /** All of them. */
  readonly manifests: readonly DefinitionManifest[];
  /** Where they are. */
  readonly folders: readonly string[];
  /** Paths that do not exist, cannot be read, or that a test may not name. Their files are not in the result. */
  readonly rejected: readonly Diagnostic[];
}

export interface TestSourcesOptions {
  /** Reads files outside of the tree of a test, too. @default false: an error names their path, and nothing that they contain */
  readonly allowsOutside?: boolean;
  /** The folders that a test may read. @default the current folder, and the one above the folder of the test */
  readonly tree?: (test: OperatorTest) => readonly string[];
}

/** A path in a test is relative to the folder of its file, or absolute. */
export function besideTest({ source }: OperatorTest, path: string): string {
  return isAbsolute(path) ? path : join(dirname(source.file), path);
}

/** Reads the files that a test uses. */
export async function readTestSources(
  test: OperatorTest,
  load: LoadFiles,
  { allowsOutside = false, tree = treeOf }: TestSourcesOptions = {},
): Promise<TestSources> {
  const isInside = insideOf(allowsOutside ? undefined : tree(test));
  const outside = new Set<string>();
  const unreadable = new Map<string, string>();
  const read = async (path: string) => {
    const place = besideTest(test, path);
    if (!(await exists(place))) return [];
    if (await isInside(place)) {
      const files = await load(place).catch((error: unknown) => {
        unreadable.set(path, messageOf(error));
        return [];
      });
      // A link in a folder may lead out of it.
      const inside = await Promise.all(files.map(({ file }) => isInside(file)));
      if (!inside.includes(false)) return files;
    }
    outside.add(path);
    return [];
  };
  const paths = test.definitions ?? ['..'];
  const definitions = (await Promise.all(paths.map(read))).flat();
  const later = await Promise.all(
    test.steps.flatMap(({ definition }, step) =>
      definition === undefined
        ? []
        : [read(definition).then((found) => ({ step, definitions: found }))],
    ),
  );
  const objects = [...test.given, ...test.steps.flatMap(({ apply }) => apply)];
  const files = [...new Set(objects.flatMap((each) => ('file' in each ? each.file : [])))];
  const applied = (await Promise.all(files.map(read))).flat();
  const all = [...paths, ...files, ...test.steps.flatMap(({ definition }) => definition ?? [])];
  const places = all.map((path) => besideTest(test, path));
  return {
    definitions,
    later,
    applied,
    manifests: [...definitions, ...later.flatMap((phase) => phase.definitions), ...applied],
    folders: places.flatMap((place) => [place, dirname(place)]),
    rejected: [
      ...(await missingFiles(test)),
      ...unreadableFiles(test, unreadable),
      ...outsideFiles(test, { outside, isDefault: tree === treeOf }),
    ],
  };
}

async function missingFiles(test: OperatorTest): Promise<readonly Diagnostic[]> {
  const found = await Promise.all(
    testParts(test).files.map(async ({ value, path }) => {
      const place = besideTest(test, value);
      if (await exists(place)) return [];
      const names = await readdir(dirname(place)).catch(() => []);
      const hint =
        didYouMean(basename(place), names) ?? `Paths are relative to "${besideTest(test, '.')}"`;
      const message = `There is no file "${value}"`;
      return [locate({ code: 'unknown-name', path, message, hint }, test.source)];
    }),
  );
  return found.flat();
}

function unreadableFiles(
  test: OperatorTest,
  unreadable: ReadonlyMap<string, string>,
): readonly Diagnostic[] {
  return placesOf(test, unreadable).map(({ value, path }) => {
    const message = unreadable.get(value) ?? '';
    return locate({ code: 'invalid-value', path, message }, test.source);
  });
}

/** Where a test names these paths. The folder above it is one that it does not name. */
function placesOf(test: OperatorTest, paths: Pick<ReadonlyMap<string, unknown>, 'has' | 'size'>) {
  const named = testParts(test).files.filter(({ value }) => paths.has(value));
  return named.length > 0 || paths.size === 0 ? named : [{ value: '..', path: '/spec' }];
}

function treeOf({ source }: OperatorTest): readonly string[] {
  return ['.', join(dirname(source.file), '..')];
}

interface Outside {
  /** Paths, as the test has them. */
  readonly outside: ReadonlySet<string>;
  readonly isDefault: boolean;
}

function outsideFiles(test: OperatorTest, { outside, isDefault }: Outside): readonly Diagnostic[] {
  const tree = isDefault
    ? `the current folder and of "${besideTest(test, '..')}"`
    : 'its workspace';
  const hint = isDefault
    ? 'Run the test in a folder that contains the file, or with --outside-files'
    : 'Open a folder that contains the file';
  return placesOf(test, outside).map(({ value, path }) => {
    const message = `A test reads no file outside of ${tree}, found "${value}"`;
    return locate({ code: 'invalid-value', path, message, hint }, test.source);
  });
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
