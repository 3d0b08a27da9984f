/** A random source, passed in so that tests are repeatable. */
export interface Random {
  /** A number in [0, 1). For jitter, never for secrets. */
  fraction(): number;
  /** `length` characters of the alphabet, cryptographically random. */
  text(length: number, alphabet: string): string;
}

/** The platform's random source (Web Crypto). */
export function createSystemRandom(): Random {
  return { fraction: () => Math.random(), text: randomText };
}

function randomText(length: number, alphabet: string): string {
  // Values at or above the largest multiple of the alphabet length are drawn again, to avoid bias.
  const limit = 256 - (256 % alphabet.length);
  // Web Crypto returns at most 65536 bytes per call.
  const bytes = new Uint8Array(Math.min(length * 2, 65_536));
  let text = '';
  while (text.length < length) {
    for (const byte of crypto.getRandomValues(bytes)) {
      if (byte < limit && text.length < length) text += alphabet.charAt(byte % alphabet.length);
    }
  }
  return text;
}
