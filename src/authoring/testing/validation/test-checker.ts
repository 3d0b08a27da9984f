import {
  checkDefinitions,
  checkedOnce,
  createManifestCheck,
  type DefinitionManifest,
  type ManifestCheck,
} from '#check';
import { bundledSchemas } from '#compile';
import {
  arrangeDiagnostics,
  type Diagnostic,
  type LocatedDefinition,
  type OperatorTest,
  readObjects,
} from '#definition';
import type { TestFiles } from '../run-test.ts';
import { checkClusters } from './check-clusters.ts';
import { ObjectCheck } from './check-object.ts';
import { checkObjects } from './check-objects.ts';
import { checkServedKinds } from './check-served-kinds.ts';
import { checkTest, type TestPhase } from './check-test.ts';
import {
  besideTest,
  type LoadFiles,
  type PhaseFiles,
  readTestSources,
  type TestSourcesOptions,
} from './test-sources.ts';

/** A test that was checked, with the files that it uses. */
export interface CheckedTest {
  /** Undefined: there are errors, so the test cannot run. */
  readonly files?: TestFiles;
  readonly diagnostics: readonly Diagnostic[];
  /** The files of diagnostics, and all others that the result of the test depends on. */
  readonly sources: readonly DefinitionManifest[];
}

export interface TestCheckerOptions extends TestSourcesOptions {
  /** Checks definitions. @default a check with the schemas of the built-in kinds that keeps its results */
  readonly check?: ManifestCheck;
  readonly load: LoadFiles;
}

/** Checks tests before they run. Those of the same definitions share what the definitions need. */
export class TestChecker {
  readonly #check: ManifestCheck;
  readonly #load: LoadFiles;
  readonly #sources: TestSourcesOptions;
  readonly #objectChecks = new Map<string, ObjectCheck>();

  constructor({ check, load, ...sources }: TestCheckerOptions) {
    this.#check = check ?? checkedOnce(createManifestCheck(bundledSchemas()));
    this.#load = load;
    this.#sources = sources;
  }

  /** @throws what `load` throws for a path that exists */
  async checkTest(test: OperatorTest): Promise<CheckedTest> {
    const read = await readTestSources(test, this.#load, this.#sources);
    if (read.rejected.length > 0) return { diagnostics: read.rejected, sources: [] };
    const { definitions, later, applied, manifests: sources } = read;
    const first = this.#phase({ step: 0, definitions });
    const phases = later.map((phase) => this.#phase(phase));
    const wrong = [first, ...phases].flatMap(({ errors }) => errors);
    if (wrong.length > 0) return { diagnostics: wrong, sources };
    const objects = applied.flatMap(({ file, text }) => readObjects(text, file).objects);
    for (const { object } of objects)
      for (const { check } of [first, ...phases]) check.serve(object);
    const diagnostics = arrangeDiagnostics([
      ...checkTest(test, [first, ...phases]),
      ...checkClusters(test, {
        definitions: [first, ...phases].flatMap((phase) => phase.located),
        applied: objects.map(({ object }) => object),
      }),
      ...checkServedKinds(
        test,
        [first, ...phases].flatMap((phase) => phase.located),
        [first, ...phases].map(({ check }) => check.kinds),
      ),
      ...applied.flatMap((file) => checkFile(file, first.check)),
    ]);
    if (diagnostics.some(isError)) return { diagnostics, sources };
    const load = (path: string) => this.#load(besideTest(test, path));
    const files: TestFiles = {
      definitions,
      loadDefinitions: load,
      loadObjects: async (path) =>
        (await load(path)).flatMap(({ file, text }) =>
          readObjects(text, file).objects.map(({ object }) => object),
        ),
    };
    return { files, diagnostics, sources };
  }

  /** The check of objects for definitions, which may have errors; one for equal definitions. */
  objectCheck(definitions: readonly DefinitionManifest[]): ObjectCheck {
    const key = JSON.stringify(definitions);
    const known = this.#objectChecks.get(key);
    if (known !== undefined) return known;
    const manifests = definitions.map((manifest) => this.#check(manifest));
    const documents = manifests.flatMap((manifest) => manifest.documents);
    const check = new ObjectCheck(
      documents.flatMap(({ located }) => located ?? []),
      manifests.every(({ isComplete }) => isComplete) &&
        documents.every(({ located }) => located !== undefined),
    );
    this.#objectChecks.set(key, check);
    return check;
  }

  close(): void {
    for (const check of this.#objectChecks.values()) check.close();
  }

  #phase({ step, definitions }: PhaseFiles): CheckedPhase {
    const options = { schemas: bundledSchemas(), check: this.#check };
    const { accepted, diagnostics } = checkDefinitions(definitions, options);
    return {
      step,
      check: this.objectCheck(definitions),
      errors: diagnostics.filter(isError),
      located: accepted.map(({ located }) => located),
    };
  }
}

interface CheckedPhase extends TestPhase {
  readonly errors: readonly Diagnostic[];
  readonly located: readonly LocatedDefinition[];
}

function checkFile({ file, text }: DefinitionManifest, check: ObjectCheck): readonly Diagnostic[] {
  const { objects, diagnostics } = readObjects(text, file);
  return [...diagnostics, ...checkObjects(objects, check)];
}

function isError({ severity }: Diagnostic): boolean {
  return severity === 'error';
}
