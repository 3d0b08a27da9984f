import {
  arrangeDiagnostics,
  createOperatorTestParser,
  type Diagnostic,
  definitionKind,
  operatorFuzzKind,
  operatorTestKind,
  parseOperatorFuzz,
  readObjects,
} from '../definition/index.ts';
import {
  checkObjects,
  DefinitionValidator,
  type LoadFiles,
  TestChecker,
} from '../simulation/index.ts';
import type { DefinitionFile } from './nearby-definitions.ts';
import { hasKind, isOwnText } from './parsed-text.ts';

/** A file whose text is checked. */
export interface CheckedFile {
  /** Undefined: the text is in no file. */
  readonly path: string | undefined;
  readonly isSample: boolean;
  /** The definitions that it belongs to. */
  readonly definitions: readonly DefinitionFile[];
}

/** What is kept for definitions is dropped when they were changed this often: a session may take days. */
const maxVersions = 8;

/**
 * Checks texts as `homeostat validate` does: definitions by themselves, samples and tests with the definitions that they belong to.
 */
export class TextChecker {
  readonly #load: LoadFiles;
  readonly #validator = new DefinitionValidator();
  readonly #parser = createOperatorTestParser();
  #tests: TestChecker;
  readonly #versions = new Set<string>();

  constructor(load: LoadFiles = async () => []) {
    this.#load = load;
    this.#tests = new TestChecker({ load });
  }

  /** All diagnostics of a text by position. None for a file without a document of Homeostat and without samples. Does not throw. */
  async check(text: string, file: CheckedFile): Promise<readonly Diagnostic[]> {
    this.#noteVersion(file.definitions);
    const name = file.path ?? '';
    if (file.isSample) {
      const { objects, diagnostics } = readObjects(text, name);
      const check = this.#tests.objectCheck(file.definitions);
      return arrangeDiagnostics([...diagnostics, ...checkObjects(objects, check)]);
    }
    if (!isOwnText(text)) return [];
    const hasTests = hasKind(text, operatorTestKind);
    const hasFuzz = hasKind(text, operatorFuzzKind);
    const hasDefinitions = hasKind(text, definitionKind) || !(hasTests || hasFuzz);
    return arrangeDiagnostics([
      ...(hasDefinitions ? this.#validator.validate([{ file: name, text }]).diagnostics : []),
      ...(hasTests ? await this.#checkTests(text, file.path) : []),
      ...(hasFuzz ? parseOperatorFuzz(text, name).diagnostics : []),
    ]);
  }

  close(): void {
    this.#validator.close();
    this.#tests.close();
  }

  /** The diagnostics of tests that are in their own file. */
  async #checkTests(text: string, path: string | undefined): Promise<readonly Diagnostic[]> {
    const { tests, diagnostics } = this.#parser.parse(text, path ?? '');
    if (path === undefined) return diagnostics;
    const found = [...diagnostics];
    for (const test of tests) found.push(...(await this.#tests.checkTest(test)).diagnostics);
    return found.filter(({ file }) => file === path);
  }

  #noteVersion(definitions: readonly DefinitionFile[]): void {
    const version = JSON.stringify(definitions);
    if (!this.#versions.has(version) && this.#versions.size >= maxVersions) {
      this.#versions.clear();
      this.#tests.close();
      this.#tests = new TestChecker({ load: this.#load });
    }
    this.#versions.add(version);
  }
}
