/** Check digits of ISBNs as the standard (ISO 2108) has them: the weighted sum is divisible. */

/** Of 13 digits, of which the first 12 count: weights 1 and 3, modulo 10. */
export function checkDigit13(digits: string): string {
  const sum = [...digits.slice(0, 12)].reduce((total, digit, index) =>
    total + Number(digit) * (index % 2 === 0 ? 1 : 3), 0);
  return String((10 - sum % 10) % 10);
}

/** Of 10 digits, of which the first 9 count: weights 10 down to 2, modulo 11, where X is 10. */
export function checkDigit10(digits: string): string {
  const sum = [...digits.slice(0, 9)].reduce((total, digit, index) =>
    total + Number(digit) * (10 - index), 0);
  return '0123456789X'.charAt((11 - sum % 11) % 11);
}
