import {
  arrangeDiagnostics,
  createOperatorTestParser,
  type Diagnostic,
  definitionKind,
  operatorFuzzKind,
  operatorTestKind,
  parseOperatorFuzz,
} from '../definition/index.ts';
import { DefinitionValidator } from '../simulation/index.ts';
import { isOwnText } from './parsed-text.ts';

/** Checks texts as `homeostat validate` does, and tests as `homeostat test` does before it runs them. */
export class TextChecker {
  readonly #validator = new DefinitionValidator();
  readonly #tests = createOperatorTestParser();

  /** All diagnostics of a file by position. None for a file without a document of Homeostat. Does not throw. */
  check(text: string, file: string): readonly Diagnostic[] {
    if (!isOwnText(text)) return [];
    const hasTests = hasKind(text, operatorTestKind);
    const hasFuzz = hasKind(text, operatorFuzzKind);
    const hasDefinitions = hasKind(text, definitionKind) || !(hasTests || hasFuzz);
    return arrangeDiagnostics([
      ...(hasDefinitions ? this.#validator.validate([{ file, text }]).diagnostics : []),
      ...(hasTests ? this.#tests.parse(text, file).diagnostics : []),
      ...(hasFuzz ? parseOperatorFuzz(text, file).diagnostics : []),
    ]);
  }

  close(): void {
    this.#validator.close();
  }
}

/** Whether a document has this kind; also in a text that cannot be parsed. */
function hasKind(text: string, kind: string): boolean {
  return new RegExp(`^\\s*["']?kind["']?\\s*:\\s*["']?${kind}\\b`, 'm').test(text);
}
