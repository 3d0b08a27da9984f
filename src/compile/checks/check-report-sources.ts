import { positionInLeaf } from '../template/slot-position.ts';
import type { SourcesOptions } from './check-sources.ts';
import { reportUses } from './report-uses.ts';

/**
 * What is another thing in every pass would be written in every pass. What is told of the resource may depend on the time all the same
 * (`status` may, too), and so may when; what is patched may not.
 */
export function checkReportSources({ parts, uses, diagnostics }: SourcesOptions): void {
  for (const { role, template } of reportUses(parts.reporting)) {
    for (const { slot, reference } of uses.of(template).references) {
      const { root, offset, behindObserved } = reference;
      const isForbidden = root === 'random' || (root === 'now' && role === 'patch');
      if (!isForbidden || behindObserved === true) continue;
      const what = root === 'now' ? 'The time' : 'A random value';
      const where = role === 'patch' ? 'a patch' : 'what is reported';
      diagnostics.report({
        code: 'forbidden-expression',
        message: `${what} is another one in every pass and cannot be used in ${where}`,
        ...positionInLeaf(slot, offset),
      });
    }
  }
}
