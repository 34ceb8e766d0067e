declare module 'saxen' {
  export class Parser {
    on(
      event: 'openTag',
      call: (
        name: string,
        attributes: () => Record<string, string> | false,
        decode: (text: string) => string,
        selfClosing: boolean,
      ) => void,
    ): this;
    on(event: 'closeTag', call: (name: string) => void): this;
    on(event: 'text' | 'cdata', call: (text: string) => void): this;
    on(event: 'comment' | 'question' | 'attention', call: () => void): this;
    on(event: 'error' | 'warn', call: (error: Error) => void): this;
    write(xml: string): this;
    end(): Error | null;
    stop(): void;
  }
}
