// Headers that a host says back in JSON. GitLab and Gitea tell Git LFS with which header it gets each file: the one that it has asked with. Masked
// it would be of no use, so it is what the program had sent, with the placeholder, before the mask looks at the rest.
import { Transform } from 'node:stream';

/** @typedef {{ had: string, sent: string }} Changed the text of a header, as it came and as it went on. */

/** A value alone, without a scheme in front, becomes `[secret NAME]` everywhere. */
const WITH_SCHEME = /^(basic|bearer|token) /i;

/** @param {string[]} came names and texts in turn. @param {string[]} went the same, with values. @returns {Changed[]} */
export function changedHeaders(came, went) {
  const changed = came.map((had, at) => ({ had, sent: went[at] }));
  return changed.filter(({ had, sent }) => had !== sent && WITH_SCHEME.test(sent));
}

export function isJson({ headers }) {
  return /^application\/(.*\+)?json\b/i.test(String(headers['content-type']));
}

/** Puts back one header. It holds back what may be the beginning of it: nobody reads JSON before its end. */
export class SaidBack extends Transform {
  #had;
  #sent;
  #last = Buffer.alloc(0);

  /** @param {Changed} changed */
  constructor({ had, sent }) {
    super();
    this.#had = Buffer.from(had, 'latin1');
    this.#sent = Buffer.from(sent, 'latin1');
  }

  _transform(chunk, _encoding, done) {
    const data = Buffer.concat([this.#last, chunk]);
    const parts = [];
    let at = 0;
    for (let from = data.indexOf(this.#sent); from >= 0; from = data.indexOf(this.#sent, at)) {
      parts.push(data.subarray(at, from), this.#had);
      at = from + this.#sent.length;
    }
    const end = Math.max(at, this.#open(data));
    this.#last = data.subarray(end);
    done(null, Buffer.concat([...parts, data.subarray(at, end)]));
  }

  _flush(done) {
    done(null, this.#last);
  }

  /** Where the last bytes begin that may be the beginning of it. */
  #open(data) {
    let from = Math.max(0, data.length - this.#sent.length + 1);
    for (; from < data.length; from++)
      if (data.subarray(from).equals(this.#sent.subarray(0, data.length - from))) break;
    return from;
  }
}
