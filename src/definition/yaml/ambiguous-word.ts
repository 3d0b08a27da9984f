const rows: readonly (readonly [RegExp, string])[] = [
  [/^(?:y|Y|yes|Yes|YES|on|On|ON)$/, 'the boolean true'],
  [/^(?:n|N|no|No|NO|off|Off|OFF)$/, 'the boolean false'],
  [/^[-+]?0[0-7]+$/, 'an octal number'],
  [/^[-+]?0o[0-7]+$/, 'a text'],
  [/^[-+]?[1-9]\d*(?::[0-5]?\d)+$/, 'a number to the base of 60'],
  [/^[-+]?(?:0b[01_]+|\d+_[\d_]+)$/, 'a number'],
];

/**
 * What the readers of YAML 1.1 (kubectl's family among them) make of a plain scalar that YAML 1.2 reads
 * differently; undefined when they agree.
 */
export function ambiguousWord(plain: string): string | undefined {
  return rows.find(([pattern]) => pattern.test(plain))?.[1];
}
