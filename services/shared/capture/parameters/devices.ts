/** Values of a device preset; explicit parameters override them. */
export type Device = {
  readonly width: number
  readonly height: number
  /** Device pixels per CSS pixel. */
  readonly scale: number
  /** Mobile layout and touch. */
  readonly isMobile: boolean
  /** Undefined: the browser's own. `{major}` stands for the major version of the browser. */
  readonly userAgent: string | undefined
}

const safari = 'AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6'
const iphone = `Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) ${safari} Mobile/15E148 Safari/604.1`
const ipad = `Mozilla/5.0 (iPad; CPU OS 18_6 like Mac OS X) ${safari} Mobile/15E148 Safari/604.1`
// Chrome for Android names neither its version nor the device.
const android = 'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{major}.0.0.0'
const androidPhone = `${android} Mobile Safari/537.36`
const androidTablet = `${android} Safari/537.36`

const phone = (width: number, height: number, scale: number, userAgent = iphone): Device => ({
  width,
  height,
  scale,
  isMobile: true,
  userAgent,
})
const computer = (width: number, height: number, scale: number): Device => ({
  width,
  height,
  scale,
  isMobile: false,
  userAgent: undefined,
})

/** The presets of the contract, then devices of today in CSS pixels, as their makers state them. */
export const devices = {
  desktop: computer(1280, 800, 1),
  mobile: phone(375, 812, 1),
  tablet: phone(768, 1024, 1, ipad),
  iphone_se: phone(375, 667, 2),
  iphone_16: phone(393, 852, 3),
  iphone_16_pro_max: phone(440, 956, 3),
  pixel_9: phone(412, 923, 2.625, androidPhone),
  galaxy_s24: phone(360, 780, 3, androidPhone),
  ipad_mini: phone(744, 1133, 2, ipad),
  ipad_pro_13: phone(1032, 1376, 2, ipad),
  galaxy_tab_s9: phone(800, 1280, 2, androidTablet),
  macbook_air_13: computer(1470, 956, 2),
  laptop: computer(1366, 768, 1),
  desktop_full_hd: computer(1920, 1080, 1),
} as const satisfies Readonly<Record<string, Device>>

/** Name of a preset. */
export type DeviceName = keyof typeof devices

/** All names of presets. */
export const deviceNames = Object.keys(devices) as DeviceName[]

/** The presets in words, for their documentation. */
export const deviceSizes = `${Object.entries(devices)
  .map(([name, { width, height, scale, isMobile }]) => {
    const pixels = scale === 1 ? '' : `, ${scale} device pixels per CSS pixel`
    return `\`${name}\`: ${width} × ${height}${pixels}${isMobile ? ', mobile layout' : ''}`
  })
  .join('; ')}.`
