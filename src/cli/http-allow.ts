import { isOutboundRule } from '#kube';
import { CliError } from './exit-code.ts';

/**
 * Rules of `--http-allow`.
 * @throws CliError
 */
export function httpRulesOf(rules: readonly string[] = []): readonly string[] {
  const wrong = rules.find((rule) => !isOutboundRule(rule));
  if (wrong !== undefined)
    throw new CliError(
      `Expected host names with "*", addresses or CIDRs, each with an optional port, in --http-allow, found "${wrong}"`,
      { hint: 'As in --http-allow "*.example.com:443,10.0.0.0/8"' },
    );
  return rules;
}
