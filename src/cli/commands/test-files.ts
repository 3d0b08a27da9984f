import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import {
  checkDefinitions,
  type DefinitionManifest,
  type ManifestCheck,
} from '../../check/index.ts';
import { bundledSchemas } from '../../compile/index.ts';
import {
  arrangeDiagnostics,
  type Diagnostic,
  locate,
  type OperatorTest,
  readObjects,
  testParts,
} from '../../definition/index.ts';
import { fileReason, loadTree } from '../../runtime/index.ts';
import {
  checkObjects,
  checkTest,
  ObjectCheck,
  type TestFiles,
  type TestPhase,
} from '../../simulation/index.ts';
import { didYouMean } from '../../util/did-you-mean.ts';
import { CliError } from '../exit-code.ts';
import { loadManifests } from '../load-manifests.ts';

/** A file, or all YAML and JSON files below a folder whose text contains the word, in order. @throws CliError */
export async function filesWith(
  word: string,
  path: string,
): Promise<readonly DefinitionManifest[]> {
  try {
    const files = await loadTree(path);
    return files.filter(({ file, text }) => file === path || text.includes(word));
  } catch (error) {
    throw unreadable(path, error);
  }
}

/** @throws CliError */
export async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw unreadable(file, error);
  }
}

function unreadable(path: string, error: unknown): CliError {
  return new CliError(`Cannot read "${path}": ${fileReason(error)}`, { cause: error });
}

/** A test that was checked, with the files that it uses. */
export interface CheckedTest {
  /** Undefined: there are errors, so the test cannot run. */
  readonly files?: TestFiles;
  readonly diagnostics: readonly Diagnostic[];
  /** The files of diagnostics, and all others that the result of the test depends on. */
  readonly sources: readonly DefinitionManifest[];
}

/** Checks tests before they run. Those of the same definitions share what the definitions need. */
export class TestChecker {
  readonly #check: ManifestCheck;
  readonly #objectChecks = new Map<string, ObjectCheck>();

  constructor(check: ManifestCheck) {
    this.#check = check;
  }

  /** @throws CliError when a file cannot be read. */
  async checkTest(test: OperatorTest): Promise<CheckedTest> {
    const folder = dirname(test.source.file);
    const missing = await missingFiles(test, folder);
    if (missing.length > 0) return { diagnostics: missing, sources: [] };
    const { definitions, later, applied, manifests: sources } = await readTestSources(test);
    const first = this.#phase({ step: 0, definitions });
    const phases = later.map((phase) => this.#phase(phase));
    const wrong = [first, ...phases].flatMap(({ errors }) => errors);
    if (wrong.length > 0) return { diagnostics: wrong, sources };
    const diagnostics = arrangeDiagnostics([
      ...checkTest(test, [first, ...phases]),
      ...applied.flatMap((file) => checkFile(file, first.check)),
    ]);
    if (diagnostics.some(isError)) return { diagnostics, sources };
    const files: TestFiles = {
      definitions,
      loadDefinitions: (path) => loadManifests([join(folder, path)]),
      loadObjects: async (path) => {
        const file = join(folder, path);
        return readObjects(await readText(file), file).objects.map(({ object }) => object);
      },
    };
    return { files, diagnostics, sources };
  }

  /** The check of objects for definitions without errors; one for equal definitions. */
  objectCheck(definitions: readonly DefinitionManifest[]): ObjectCheck {
    const key = JSON.stringify(definitions);
    const { accepted } = this.#definitions(definitions);
    const check =
      this.#objectChecks.get(key) ?? new ObjectCheck(accepted.map(({ located }) => located));
    this.#objectChecks.set(key, check);
    return check;
  }

  close(): void {
    for (const check of this.#objectChecks.values()) check.close();
  }

  #definitions(definitions: readonly DefinitionManifest[]) {
    return checkDefinitions(definitions, { schemas: bundledSchemas(), check: this.#check });
  }

  #phase({
    step,
    definitions,
  }: PhaseFiles): TestPhase & { readonly errors: readonly Diagnostic[] } {
    const errors = this.#definitions(definitions).diagnostics.filter(isError);
    return { step, check: this.objectCheck(definitions), errors };
  }
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
}

/** Reads the files that a test uses. Missing ones are left out. @throws CliError when one cannot be read. */
export async function readTestSources(test: OperatorTest): Promise<TestSources> {
  const folder = dirname(test.source.file);
  const load = (path: string) =>
    loadManifests([join(folder, path)], { mayBeEmpty: true, mayBeMissing: true });
  const paths = test.definitions ?? ['..'];
  const definitions = (await Promise.all(paths.map(load))).flat();
  const later = await Promise.all(
    test.steps.flatMap(({ definition }, step) =>
      definition === undefined
        ? []
        : [load(definition).then((found) => ({ step, definitions: found }))],
    ),
  );
  const files = [...new Set(test.steps.flatMap(({ applyFiles }) => applyFiles))];
  const applied = (await Promise.all(files.map(load))).flat();
  const all = [...paths, ...files, ...test.steps.flatMap(({ definition }) => definition ?? [])];
  return {
    ...{ definitions, later, applied },
    manifests: [...definitions, ...later.flatMap((phase) => phase.definitions), ...applied],
    folders: all.flatMap((path) => [join(folder, path), dirname(join(folder, path))]),
  };
}

function checkFile({ file, text }: DefinitionManifest, check: ObjectCheck): readonly Diagnostic[] {
  const { objects, diagnostics } = readObjects(text, file);
  return [...diagnostics, ...checkObjects(objects, check)];
}

interface PhaseFiles {
  readonly step: number;
  readonly definitions: readonly DefinitionManifest[];
}

function isError({ severity }: Diagnostic): boolean {
  return severity === 'error';
}

async function missingFiles(test: OperatorTest, folder: string): Promise<readonly Diagnostic[]> {
  const found = await Promise.all(
    testParts(test).files.map(async ({ value, path }) => {
      const place = join(folder, value);
      const exists = await stat(place).then(
        () => true,
        () => false,
      );
      if (exists) return [];
      const names = await readdir(dirname(place)).catch(() => []);
      const near = didYouMean(basename(place), names);
      const message = `There is no file "${value}"`;
      const hint = near ?? `Paths are relative to "${folder}"`;
      return [locate({ code: 'unknown-name', path, message, hint }, test.source)];
    }),
  );
  return found.flat();
}
