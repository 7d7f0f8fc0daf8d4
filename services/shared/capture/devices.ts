/** Values of a device preset; explicit parameters override them. */
export type Device = {
  readonly width: number
  readonly height: number
  /** Mobile layout and touch. */
  readonly isMobile: boolean
  /** Undefined: the browser's own. */
  readonly userAgent: string | undefined
}

const safari = 'AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6'

/** The presets of the contract. */
export const devices = {
  desktop: { width: 1280, height: 800, isMobile: false, userAgent: undefined },
  mobile: {
    width: 375,
    height: 812,
    isMobile: true,
    userAgent: `Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) ${safari} Mobile/15E148 Safari/604.1`,
  },
  tablet: {
    width: 768,
    height: 1024,
    isMobile: true,
    userAgent: `Mozilla/5.0 (iPad; CPU OS 18_6 like Mac OS X) ${safari} Mobile/15E148 Safari/604.1`,
  },
} as const satisfies Readonly<Record<string, Device>>
