/**
 * Everything that can go wrong, as `NearfieldError.code`: the engine's own list, in its order
 * (core/include/nearfield/result.h); a test compares the two.
 */
export const errorCodes = [
  'INVALID_ARGUMENT', // an option, a count or a shape that no call accepts
  'DIMENSION_MISMATCH', // a vector of another length than the collection's
  'NOT_FINITE', // NaN or infinity in a vector
  'INVALID_ID', // an id that cannot be kept exactly
  'NOT_FOUND', // a collection, file or store that is not there
  'ALREADY_EXISTS', // a name that is taken
  'LOCKED', // open for writing in another program, tab or worker
  'OPTIONS_MISMATCH', // a collection opened with other options than it was created with
  'FOREIGN_FILE', // not a Nearfield file at all
  'NEWER_VERSION', // written by a later Nearfield than this one can read
  'CORRUPT', // a checksum, size or link that contradicts the file itself
  'IO', // the storage failed
  'QUOTA', // the storage is full
  'OUT_OF_MEMORY', // memory could not be had; the store is as it was before the call
  'READ_ONLY', // a change to a store that was opened for reading
  'CLOSED', // a call on a closed store
  'ABORTED', // the caller asked to stop
  'UNSUPPORTED', // not available in this build or on this platform
] as const;

export type NearfieldErrorCode = (typeof errorCodes)[number];

/** The one class of every failure: `code` says which, `message` what was wrong and what was expected. */
export class NearfieldError extends Error {
  override readonly name = 'NearfieldError';
  readonly code: NearfieldErrorCode;

  constructor(code: NearfieldErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** An error in the shape that crosses between threads and from the engine. */
export interface ErrorShape {
  code: NearfieldErrorCode;
  detail: string;
}

export const invalid = (detail: string): NearfieldError => new NearfieldError('INVALID_ARGUMENT', detail);

/** Of a deletion by an empty filter. */
export const noFilter = (): NearfieldError =>
  invalid('an empty filter matches every record; clear() removes them all');

export const aborted = (detail: string): NearfieldError => new NearfieldError('ABORTED', detail);

/** Any thrown value as a NearfieldError; full storage and exhausted memory get their codes. */
export function toNearfieldError(thrown: unknown): NearfieldError {
  if (thrown instanceof NearfieldError) return thrown;
  const name = thrown instanceof Error || thrown instanceof DOMException ? thrown.name : '';
  const detail = thrown instanceof Error ? thrown.message : String(thrown);
  const options = { cause: thrown };
  const { code } = (thrown ?? {}) as { code?: unknown };
  if (name === 'QuotaExceededError' || code === 'ENOSPC' || code === 'EDQUOT') {
    return new NearfieldError('QUOTA', `the storage is full: ${detail || name}`, options);
  }
  if (name === 'RangeError' && /memory|allocation/i.test(detail)) {
    return new NearfieldError('OUT_OF_MEMORY', detail, options);
  }
  return new NearfieldError('IO', detail || name || 'unknown failure', options);
}

export function toErrorShape(thrown: unknown): ErrorShape {
  const { code, message } = toNearfieldError(thrown);
  return { code, detail: message };
}
