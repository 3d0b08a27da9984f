import { didYouMean } from '#util/did-you-mean.ts';
import { pointerTo } from '#util/json.ts';
import { warningCodes } from '../accepted-warnings.ts';
import { diagnosticCodes } from '../finding.ts';
import { mapsAt } from '../tree.ts';
import type { Rule } from './rule.ts';

/** Each accepted warning has a reason. An unknown code is only a warning: another version of Homeostat may know it. */
export const checkAcceptedWarnings: Rule = function* (document) {
  for (const { value, path } of mapsAt(document, '/spec/acceptedWarnings')) {
    const { code, path: place, reason } = value;
    if (typeof reason === 'string' && reason.trim() === '') {
      const message = 'An accepted warning needs a reason';
      const hint = 'Write why the definition is right as it is';
      yield { code: 'invalid-value', path: pointerTo(path, 'reason'), message, hint };
    }
    if (typeof place === 'string' && !place.startsWith('/')) {
      const message = `Expected a JSON pointer, found "${place}"`;
      const pointer = `/${place.replaceAll(/[.[\]]+/g, '/').replace(/\/$/, '')}`;
      const hint =
        place === '' ? 'Leave "path" out for the whole definition' : `Write "${pointer}"`;
      yield { code: 'invalid-value', path: pointerTo(path, 'path'), message, hint };
    }
    if (typeof code === 'string' && !warningCodes.some((known) => known === code)) {
      const isKnown = diagnosticCodes.some((known) => known === code);
      yield {
        severity: 'warning',
        code: 'unknown-name',
        path: pointerTo(path, 'code'),
        message: isKnown
          ? `"${code}" cannot be accepted: no warning about a definition has this code`
          : `There is no warning "${code}"`,
        hint: didYouMean(code, warningCodes) ?? `Known codes: ${warningCodes.join(', ')}`,
      };
    }
  }
};
