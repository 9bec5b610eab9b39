from voice.parts.extractor.network import Extractor


def get_extractor(device="cpu"):
    extractor = Extractor().to(device)
    extractor.eval()
    return extractor


if __name__ == "__main__":
    extractor = get_extractor()
