/** What the proxy does not carry out, and the sentence that the sandbox is told. */
export class Refusal extends Error {
  /**
   * @param {number} status of the answer.
   * @param {string} message a sentence.
   * @param {string} code for the header `X-Millwright-Refused`, by which a program tells it from an answer of the host.
   * @param {string} [secret] the name of the one that it is about.
   */
  constructor(status, message, code = 'proxy', secret) {
    super(message);
    this.status = status;
    this.code = code;
    this.secret = secret;
  }
}

/** The refusal that stands for any error. */
export function asRefusal(error) {
  return error instanceof Refusal ? error : new Refusal(502, `The proxy failed: ${error.message}.`);
}
