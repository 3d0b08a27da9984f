import {
  arrangeDiagnostics,
  createOperatorTestParser,
  type Diagnostic,
  definitionKind,
  type LocatedDefinition,
  operatorFuzzKind,
  operatorTestKind,
  parseOperatorFuzz,
  readObjects,
} from '#definition';
import {
  checkObjects,
  conversionDiagnostics,
  DefinitionValidator,
  type LoadFiles,
  TestChecker,
  type TestSourcesOptions,
} from '#testing';
import type { DefinitionFile } from './nearby-definitions.ts';
import { hasHttpObjects, hasKind, isOwnText } from './parsed-text.ts';

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
  readonly #tree: TestSourcesOptions['tree'];
  #tests: TestChecker;
  readonly #versions = new Set<string>();
  /** The valid definitions with conversions of the text that was checked last. */
  #converting:
    | { readonly text: string; readonly located: readonly LocatedDefinition[] }
    | undefined;

  /** @param tree the folders that a test may read. @default as in `homeostat test` */
  constructor(load: LoadFiles = async () => [], tree?: TestSourcesOptions['tree']) {
    this.#load = load;
    this.#tree = tree;
    this.#tests = this.#createTests();
  }

  /** All diagnostics of a text by position. None for a file without a document of Homeostat and without samples. Does not throw. */
  async check(text: string, file: CheckedFile): Promise<readonly Diagnostic[]> {
    this.#noteVersion(file.definitions);
    const name = file.path ?? '';
    if (file.isSample || hasHttpObjects(text)) {
      const { objects, diagnostics } = readObjects(text, name);
      const check = this.#tests.objectCheck(file.definitions);
      return arrangeDiagnostics([...diagnostics, ...checkObjects(objects, check)]);
    }
    if (!isOwnText(text)) return [];
    const hasTests = hasKind(text, operatorTestKind);
    const hasFuzz = hasKind(text, operatorFuzzKind);
    const hasDefinitions = hasKind(text, definitionKind) || !(hasTests || hasFuzz);
    return arrangeDiagnostics([
      ...(hasDefinitions ? this.#validate(text, name) : []),
      ...(hasTests ? await this.#checkTests(text, file.path) : []),
      ...(hasFuzz ? parseOperatorFuzz(text, name).diagnostics : []),
    ]);
  }

  /**
   * What a generated round-trip check finds in a text that was just checked: slower than all other checks, and only of valid definitions with
   * conversions. It ends early when the signal aborts.
   */
  async checkConversions(text: string, signal: AbortSignal): Promise<readonly Diagnostic[]> {
    const found: Diagnostic[] = [];
    const located = this.#converting?.text === text ? this.#converting.located : [];
    for (const each of located) found.push(...(await conversionDiagnostics(each, signal)));
    return arrangeDiagnostics(found);
  }

  close(): void {
    this.#validator.close();
    this.#tests.close();
  }

  #validate(text: string, file: string): readonly Diagnostic[] {
    const { accepted, diagnostics } = this.#validator.validate([{ file, text }]);
    const converting = accepted.flatMap(({ located }) =>
      located.definition.conversions === undefined ? [] : [located],
    );
    this.#converting = converting.length > 0 ? { text, located: converting } : undefined;
    return diagnostics;
  }

  /** The diagnostics of tests that are in their own file. */
  async #checkTests(text: string, path: string | undefined): Promise<readonly Diagnostic[]> {
    const { tests, diagnostics } = this.#parser.parse(text, path ?? '');
    if (path === undefined) return diagnostics;
    const found = [...diagnostics];
    for (const test of tests) found.push(...(await this.#tests.checkTest(test)).diagnostics);
    return found.filter(({ file }) => file === path);
  }

  #createTests(): TestChecker {
    const tree = this.#tree;
    return new TestChecker({ load: this.#load, ...(tree !== undefined && { tree }) });
  }

  #noteVersion(definitions: readonly DefinitionFile[]): void {
    const version = JSON.stringify(definitions);
    if (!this.#versions.has(version) && this.#versions.size >= maxVersions) {
      this.#versions.clear();
      this.#tests.close();
      this.#tests = this.#createTests();
    }
    this.#versions.add(version);
  }
}
