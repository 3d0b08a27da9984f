import type { Diagnostic } from '../../definition/index.ts';
import type { Choice } from './choose-definitions.ts';
import { linesOf } from './diagnostic-lines.ts';
import type { TextState } from './text-state.ts';
import { findingsOf } from './wanted-set.ts';

/** All that is wrong with a text. */
export interface TextFindings {
  readonly file: string;
  readonly text: string;
  /** None: there was something, and it is mended. */
  readonly diagnostics: readonly Diagnostic[];
  /** The errors among them, one line each. */
  readonly errors: readonly string[];
  /** The others, one line each. */
  readonly warnings: readonly string[];
  /** How many of its definitions are not taken as they are, as far as they can be told apart. */
  readonly refused: number;
}

/** What was said of texts, so that it is said once. */
export class ToldFindings {
  /** By text: its diagnostics. */
  #told: ReadonlyMap<string, string> = new Map();

  /** Of texts of which something else is to be said than before. */
  news(states: ReadonlyMap<string, TextState>, choice: Choice): readonly TextFindings[] {
    const told = new Map<string, string>();
    const findings: TextFindings[] = [];
    for (const [key, state] of states) {
      const diagnostics = findingsOf(state, choice);
      const said = JSON.stringify(diagnostics);
      told.set(key, said);
      if (said === (this.#told.get(key) ?? '[]')) continue;
      const { file, text } = state.text;
      const outrun = choice.outrun.filter((each) => each.text === state.text);
      const refused = state.refused.length + outrun.length;
      const errors = linesOf(state.text, diagnostics);
      const warnings = linesOf(state.text, diagnostics, 'warning');
      findings.push({ file, text, diagnostics, errors, warnings, refused });
    }
    this.#told = told;
    return findings;
  }
}
